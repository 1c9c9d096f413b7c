// Walks the circuits of the ITK, and writes their section of docs/conformance.md and their entry of docs/conformance.json. The ITK starts all
// agents, ours by `agents/repo/package.json`, as it does those of SDKs under test: `main.ts KIT PROGRAM [ABSENT]`, where ABSENT is JSON of the
// reference agents that cannot be started, with the reasons.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../scripts/lib/port.mjs";
import { writeSuite } from "../report.ts";
import { writeSection } from "../sections.ts";
import { PEERS, hubs, pairs, type Circuit, type Peer } from "./circuits.ts";
import { entryOf, itkSection, surprises, type ItkRun, type Walked } from "./section.ts";

const [kit = "", program = "", absent = "{}"] = process.argv.slice(2);
const reasons = JSON.parse(absent) as Record<string, string>;
/** What the ITK says where its receiver of notifications was not ready in time, and the scenarios that it has said it about. */
const UNREADY = "Notification server failed to start";
const unready = new Set<string>();

const peers = PEERS.filter(({ sdk }) => reasons[sdk] === undefined);

/** Our agent, where the ITK looks for the repository of the SDK under test. */
const mount = join(kit, "agents", "repo");
mkdirSync(join(mount, "itk"), { recursive: true });
const agent = ["exec", process.execPath, "--disable-warning=ExperimentalWarning", fileURLToPath(new URL("agent.ts", import.meta.url))].join(" ");
writeFileSync(join(mount, "package.json"), JSON.stringify({ name: "a2a-edge", private: true, scripts: { "itk-agent": agent } }));

const port = await freePort();
// Without UV_NO_SYNC, `uv run` would make the environments anew, from sources of the SDKs.
const env = { ...process.env, UV_NO_SYNC: "1", A2A_ITK_PROGRAM: program, PYTHONDONTWRITEBYTECODE: "1" };
const service = spawn(join(kit, ".venv", "bin", "python"), ["-m", "uvicorn", "itk_service:app", "--port", String(port)], { cwd: kit, env, stdio: ["ignore", "ignore", "pipe"] });
try {
  const lines = createInterface({ input: service.stderr });
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => {
      if (line.includes("Application startup complete")) resolve();
      const shown = /- (?:ERROR - .*|INFO - (?:.* is ready at .*|--- INTEGRATION TEST PASSED.*))$/.exec(line);
      if (shown !== null) console.log(shown[0].slice(2, 300));
      const [, name] = new RegExp(`- Subtest (.*) failed with exception: ${UNREADY}`).exec(line) ?? [];
      if (name !== undefined) unready.add(name);
    });
    service.once("exit", () => reject(new Error("the service of the ITK ended")));
  });
  const [two, several] = [pairs(peers), hubs(peers)];
  const outcomes = [...(await walk(two)), ...(await walk(several))];
  const walked = [...two, ...several].flatMap((circuit) => outcomes.filter((one) => one.circuit === circuit));
  const run: ItkRun = {
    revision: execFileSync("git", ["-C", kit, "rev-parse", "HEAD"], { encoding: "utf8" }).trim(),
    date: new Date().toISOString().slice(0, 10),
    versions: Object.fromEntries(peers.map((peer) => [peer.sdk, versionOf(peer)])),
    walked,
    absent: PEERS.flatMap((peer) => (reasons[peer.sdk] === undefined ? [] : [{ peer, reason: reasons[peer.sdk] ?? "" }])),
  };
  const entry = entryOf(run, pairs(PEERS).length - two.length);
  writeSection("ITK", itkSection(run, entry));
  writeSuite(entry);
  console.log("\ndocs/conformance.md and docs/conformance.json are written.");
  const wrong = surprises(walked);
  for (const line of wrong) console.log(line);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  if (service.exitCode === null) {
    service.kill();
    await once(service, "exit");
  }
  rmSync(mount, { recursive: true, force: true });
}

/**
 * Has the service start all agents that these circuits need, and walk them. Where it gives up, as at an answer with an error, each half is walked
 * by itself. What fails since the ITK's own receiver of notifications was not there in its five seconds is walked again.
 */
async function walk(circuits: Circuit[], attempts = 3): Promise<Walked[]> {
  if (circuits.length === 0) return [];
  unready.clear();
  const { status, body } = await post("/run", { tests: circuits.map(({ scenario }) => scenario) });
  if (status === 200) {
    const { results } = JSON.parse(body) as { results: Record<string, { passed: boolean }> };
    const again = attempts > 1 ? circuits.filter(({ scenario }) => unready.has(scenario.name)) : [];
    const others = circuits.filter((circuit) => !again.includes(circuit));
    return [...others.map((circuit) => ({ circuit, passed: results[circuit.scenario.name]?.passed ?? false })), ...(await walk(again, attempts - 1))];
  }
  console.log(`the service of the ITK answered ${status}: ${body.slice(0, 500)}`);
  const [first] = circuits;
  if (first !== undefined && circuits.length === 1) {
    return attempts > 1 && body.includes(UNREADY) ? walk(circuits, attempts - 1) : [{ circuit: first, passed: false }];
  }
  const half = Math.ceil(circuits.length / 2);
  return [...(await walk(circuits.slice(0, half))), ...(await walk(circuits.slice(half)))];
}

/** It answers when all is done, which is later than `fetch` waits. */
async function post(path: string, body: object): Promise<{ status: number; body: string }> {
  const sent = request({ host: "127.0.0.1", port, path, method: "POST", headers: { "content-type": "application/json" } });
  sent.end(JSON.stringify(body));
  const [answer] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}

function versionOf({ folder, version: [file, pattern] }: Peer): string {
  return pattern.exec(readFileSync(join(kit, folder, file), "utf8"))?.[1] ?? "";
}
