// Runs ACTS against the built Worker and our client, and writes its section of docs/conformance.md and its entries of docs/conformance.json.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startWorker } from "../../e2e/harness.ts";
import { Sink } from "../../e2e/sink.ts";
import { writeSuite } from "../report.ts";
import { writeSection } from "../sections.ts";
import { actsAgents } from "./agents.ts";
import { TOKENS } from "./behaviors.ts";
import { isOfClient, parsedBy } from "./client.ts";
import { CORRECTIONS, unquoted } from "./corrections.ts";
import type { Test } from "./document.ts";
import { load } from "./load.ts";
import { readProto } from "./proto.ts";
import { REPAIRS } from "./repair.ts";
import { runSuite, type TestRun } from "./run.ts";
import { actsSection } from "./section.ts";
import { actsReport, entryOf, having, reasonOf, reportName } from "./verdict.ts";

const [manifest = "", program = "", reports = ""] = process.argv.slice(2);
const loaded = load(manifest);
const checkout = execFileSync("git", ["-C", dirname(manifest), "rev-parse", "--show-toplevel"], { encoding: "utf8" }).trim();
const revision = execFileSync("git", ["-C", checkout, "rev-parse", "HEAD"], { encoding: "utf8" }).trim();
// What the sentences of corrections.ts are quoted from.
const [specification = "", proto = ""] = ["docs/specification.md", "specification/a2a.proto"].map((name) => readFileSync(join(checkout, name), "utf8"));
const schema = readProto(proto);
const date = new Date().toISOString().slice(0, 10);

const worker = await startWorker({ vars: { AGENTS: actsAgents(), DEFAULT_AGENT: "acts", ...TOKENS } });
const sink = await Sink.open();
const over = (binding: "jsonrpc" | "rest", isWanted: (test: Test) => boolean): Promise<TestRun[]> =>
  runSuite(loaded, { origin: worker.url, binding, sink, schema, parse: (operation, payload) => parsedBy(program, operation, payload) }, isWanted);
try {
  const groups = [
    { name: "JSON-RPC", runs: await over("jsonrpc", (test) => !isOfClient(test)) },
    { name: "HTTP+JSON", runs: await over("rest", (test) => !isOfClient(test)) },
    // They are about no binding of the server.
    { name: "client", runs: await over("jsonrpc", isOfClient) },
  ];
  writeSection("ACTS", actsSection({ revision, date, repairs: loaded.repairs }, groups));
  for (const { name, runs } of groups) writeSuite(entryOf(`ACTS, ${name}`, revision, date, runs));
  console.log("docs/conformance.md and docs/conformance.json are written.");
  if (reports !== "") writeReports(groups.map(({ runs }) => runs));

  const failed = groups.flatMap(({ name, runs }) => having(runs, "failed").map((run) => `failed: ${name} ${run.test.id}: ${reasonOf(run)}`));
  const ran = groups.flatMap(({ runs }) => runs.map(({ test: { id } }) => id));
  const stale = [
    ...REPAIRS.filter(({ name }) => !loaded.repairs.includes(name)).map(({ name }) => `the repair ${name} finds nothing any more`),
    ...CORRECTIONS.filter(({ test }) => !ran.includes(test)).map(({ test }) => `corrections.ts is about ${test}, which the suite does not have`),
  ];
  const wrong = unquoted(CORRECTIONS, [specification, proto]).map((sentence) => `not in the specification: ${sentence}`);
  for (const line of [...failed, ...stale, ...wrong]) console.log(line);
  if (failed.length + stale.length + wrong.length > 0) process.exitCode = 1;
} finally {
  await worker.stop();
  sink.close();
}

/** The reports of ACTS §13, one for each binding; the client tests are in that of JSON-RPC, whose payloads they have. */
function writeReports([rpc = [], rest = [], client = []]: TestRun[][]): void {
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string };
  const generatedAt = new Date().toISOString();
  const about = { version, generatedAt, specVersion: loaded.documents[0]?.specVersion ?? "1.0", actsVersion: "1.0" };
  mkdirSync(reports, { recursive: true });
  for (const [transport, runs] of Object.entries({ jsonrpc: [...rpc, ...client], rest })) {
    writeFileSync(join(reports, reportName(transport, generatedAt)), `${JSON.stringify(actsReport(transport, runs, about), null, 2)}\n`);
  }
}
