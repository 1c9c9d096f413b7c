// Tries foreign programs against the built Worker and writes the results into docs/peers.md. Started by scripts/peers.mjs,
// which installs them: `main.ts [--only NAME] [--sdk FOLDER --samples FOLDER] RUST_PROGRAM RUST_PROGRAM_OF_MCP RUST_RECEIVER_OF_SPANS
// [PYTHON PYTHON_OF_OLDER PYTHON_OF_NEWEST PYTHON_OF_MCP PYTHON_OF_FRAMEWORKS]`.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { startWorker } from "../e2e/harness.ts";
import { resumes } from "./eventsource.ts";
import { answersTurns } from "./frameworks.ts";
import { answersAsFunction, answersWithScriptedModel, type Example } from "./functions.ts";
import { inspects, servesTools, usesTools } from "./mcp.ts";
import { answersOurClient } from "./servers.ts";
import { signatures, tokens, withNotifications, type Algorithm, type Received } from "./notifications.ts";
import { SAMPLES, results, type Result } from "./page.ts";
import { runSamples } from "./samples.ts";
import { receivesTraces } from "./traces.ts";

const options = { only: { type: "string" }, sdk: { type: "string" }, samples: { type: "string" } } as const;
const { values: { only, sdk, samples }, positionals } = parseArgs({ options, allowPositionals: true });
const [rust = "", rustMcp = "", rustOtlp = "", python = "", older = "", newest = "", pythonMcp = "", pythonFrameworks = ""] = positionals;
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const text = (name: string) => readFileSync(here(name), "utf8");

/** A program that is not ours, and what it is to do. A check throws if that fails. */
interface Peer {
  name: string;
  language: "JavaScript" | "Python" | "Rust";
  version: string;
  checks: { what: string; work(): Promise<unknown> }[];
}

/** Runs a program to its end, which must be a good one; `input` is what it reads. */
async function runs(program: string, args: string[], input = ""): Promise<string> {
  // What it asks for is on this machine.
  const running = promisify(execFile)(program, args, { env: { ...process.env, NO_PROXY: "127.0.0.1", PYTHONDONTWRITEBYTECODE: "1" } });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

/** Runs spec files of the end-to-end tests with another SDK, which `hooks` gives to them, but for the tests with `skipped` in their title. */
function specs(hooks: string, names: string[], skipped: string): Promise<string> {
  const files = names.map((name) => here(`../e2e/${name}.spec.ts`));
  const imported = `--import=${new URL(hooks, import.meta.url).href}`;
  const options = [imported, "--test", "--test-force-exit", "--test-timeout=120000", `--test-skip-pattern=${skipped}`];
  return runs(process.execPath, ["--disable-warning=ExperimentalWarning", ...options, ...files]);
}

/** Has a program walk through the operations of a Worker of its own. */
async function walks(program: string, args: string[], binding: string, steps: number, more: string[] = []): Promise<void> {
  const worker = await startWorker();
  try {
    const told = await runs(program, [...args, worker.url, binding, ...more]);
    assert.equal(told.match(/: ok$/gm)?.length, steps, told);
  } finally {
    await worker.stop();
  }
}

async function inPython(step: string, received: Received, algorithm: Algorithm): Promise<void> {
  await runs(python, [here("python/notifications.py"), step], JSON.stringify({ ...received, algorithm }));
}

const npm = (name: string, lock = "package-lock.json"): string => {
  const { packages } = JSON.parse(text(lock)) as { packages: Record<string, { version: string }> };
  return packages[`node_modules/${name}`]?.version ?? "";
};
const pip = (name: string, requirements = "requirements.txt"): string => new RegExp(`^${name}(?:\\[.*\\])?==(\\S+)`, "m").exec(text(requirements))?.[1] ?? "";
const crate = (name: string): string => new RegExp(`name = "${name}"\\nversion = "([^"]+)"`).exec(text("rust/Cargo.lock"))?.[1] ?? "";

const OPERATIONS = "sends, follows, lists, cancels and manages webhooks over";
const SIGNATURES = "verifies the signatures of a webhook's notifications, and refuses other bodies";
const TOKENS = "fetches the keys of the server, verifies the JWTs of a webhook's notifications by them, and refuses those for other receivers, by";
const COMPATIBLE = "the newest, as a client of 0.3";
const OLDER = "requirements-older.txt";
const MCP = "requirements-mcp.txt";
const USED = "uses agents as tools of MCP: lists them, calls them, answers questions, gets tasks, is refused without a key, in";
const SERVED = "as a server of MCP: our client lists its tools and calls them, for structured content, progress, errors and images";
const ANSWERS = `as an agent behind \`kind = "http"\`: its text comes in chunks, it knows the conversation, its tool is called, its errors are the reason of the failure, and a cancel reaches its model`;
const FUNCTION = "its text comes in chunks, its errors are the reason of the failure, and a cancel reaches its model";
const POET: Example = { file: "src/poet.ts", kind: "poet", hasTool: false };
const FORECAST: Example = { file: "langgraph/forecast.ts", kind: "forecast", hasTool: true };
const asFunction = (example: Example, what: string) => [
  { what: `in an executor in TypeScript (\`examples/typescript/${example.file}\`): ${what}`, work: () => answersAsFunction(example) },
  { what: "the same with the scripted model of development", work: () => answersWithScriptedModel(example) },
];
const frameworks = [
  { name: "pydantic-ai", from: "pydantic-ai-slim" }, { name: "openai-agents", from: "openai-agents" }, { name: "langgraph", from: "langgraph" }, { name: "google-adk", from: "google-adk" },
];
const bindings = ["JSONRPC", "HTTP+JSON"];
const algorithms: Algorithm[] = ["ES256", "EdDSA"];
const eras = [{ mode: "legacy", revision: "2025-11-25" }, { mode: "auto", revision: "2026-07-28" }];

const peers: Peer[] = [
  {
    name: "eventsource", language: "JavaScript", version: npm("eventsource"),
    checks: [{ what: "follows a task by GET, comes back with `Last-Event-ID` after the server was killed, misses no event, and stops at the end", work: resumes }],
  },
  {
    name: "standardwebhooks", language: "JavaScript", version: npm("standardwebhooks"),
    checks: [{ what: SIGNATURES, work: () => withNotifications("ES256", signatures) }],
  },
  {
    name: "jose", language: "JavaScript", version: npm("jose"),
    checks: algorithms.map((algorithm) => ({
      what: `${TOKENS} ${algorithm}`, work: () => withNotifications(algorithm, (received) => tokens(received, algorithm)),
    })),
  },
  {
    name: "@a2a-js/sdk", language: "JavaScript", version: npm("@a2a-js/sdk"),
    checks: [{
      what: "the oldest that speaks 1.0: passes the specs of the newest, but for the classes of its errors, which are others",
      work: () => specs("own-sdk.mjs", ["sdk", "rest-sdk"], "throws"),
    }],
  },
  {
    name: "a2a-sdk", language: "Python", version: pip("a2a-sdk"),
    checks: bindings.map((binding) => ({
      what: `the oldest that speaks 1.0: ${OPERATIONS} ${binding}`, work: () => walks(python, [here("../e2e/python/walk.py")], binding, 6),
    })),
  },
  {
    name: "standardwebhooks", language: "Python", version: pip("standardwebhooks"),
    checks: [{ what: SIGNATURES, work: () => withNotifications("ES256", (received) => inPython("signatures", received, "ES256")) }],
  },
  {
    name: "PyJWT", language: "Python", version: pip("pyjwt"),
    checks: algorithms.map((algorithm) => ({
      what: `${TOKENS} ${algorithm}`, work: () => withNotifications(algorithm, (received) => inPython("tokens", received, algorithm)),
    })),
  },
  {
    name: "a2a-client-lf", language: "Rust", version: crate("a2a-client-lf"),
    checks: bindings.map((binding) => ({ what: `the official Rust SDK: ${OPERATIONS} ${binding}`, work: () => walks(rust, [], binding, 4) })),
  },
  {
    name: "@a2a-js/sdk", language: "JavaScript", version: npm("@a2a-js/sdk-0.2"),
    checks: [{
      what: "the newest of A2A 0.2: finds the card at `/.well-known/agent.json`, and passes the spec of the SDK of 0.3, but for the lists of webhooks, which it has not",
      work: () => specs("sdk-0.2.mjs", ["v03-sdk"], "HTTP.JSON|lists webhooks"),
    }],
  },
  {
    name: "a2a-sdk", language: "Python", version: pip("a2a-sdk", OLDER),
    checks: [{
      what: "the newest of A2A 0.2: finds the card at `/.well-known/agent.json`, sends, follows, gets, cancels and registers webhooks over JSONRPC",
      work: () => walks(older, [here("python/sdk_0_2.py")], "JSONRPC", 5),
    }],
  },
  {
    name: "@a2a-js/sdk", language: "JavaScript", version: npm("@a2a-js/sdk", "../../package-lock.json"),
    checks: [{
      what: `${COMPATIBLE}: passes its specs but for what 0.3 does otherwise`,
      work: () => specs("compat.mjs", ["sdk", "rest-sdk"], "several agents|speaks 1.0|calls a tool|card at / |tenant|subscribes"),
    }],
  },
  {
    name: "a2a-sdk", language: "Python", version: pip("a2a-sdk", "../e2e/python/requirements.txt"),
    checks: [
      { binding: "JSONRPC", what: "sends, follows, cancels and manages webhooks", leftOut: ["listing", "finished"] },
      { binding: "HTTP+JSON", what: "sends, follows, cancels, registers and gets webhooks", leftOut: ["listing", "deletion", "finished"] },
    ].map(({ binding, what, leftOut }) => ({
      what: `${COMPATIBLE}: ${what} over ${binding}`,
      work: () => walks(newest, [here("../e2e/python/walk.py")], binding, 6 - leftOut.length, ["0.3", ...leftOut]),
    })),
  },
  {
    name: "fasta2a", language: "Python", version: pip("fasta2a", OLDER),
    checks: [
      { what: "the newest with the shapes of 0.3: sends and gets", work: () => walks(older, [here("python/fasta.py")], "JSONRPC", 2) },
      { what: "the same as a server: our client finds its card, sends, polls, gets and cancels", work: () => answersOurClient(older, here("python/fasta_server.py")) },
    ],
  },
  ...["mcp", "fastmcp"].map((name): Peer => ({
    name, language: "Python", version: pip(name, MCP),
    checks: [
      ...eras.map(({ mode, revision }) => ({
        what: `${USED} ${revision}`, work: () => usesTools((...args) => runs(pythonMcp, [here("python/mcp_walk.py"), name, ...args]), mode, 7),
      })),
      { what: SERVED + (name === "fastmcp" ? ", and waits for a task" : ""), work: () => servesTools(pythonMcp, here("python/mcp_server.py"), name) },
    ],
  })),
  {
    name: "rmcp", language: "Rust", version: crate("rmcp"),
    checks: eras.map(({ mode, revision }) => ({ what: `${USED} ${revision}`, work: () => usesTools((...args) => runs(rustMcp, args), mode, 6) })),
  },
  {
    name: "@modelcontextprotocol/inspector", language: "JavaScript", version: npm("@modelcontextprotocol/inspector"),
    checks: eras.map(({ mode, revision }) => ({
      what: `its command line finds no error in the schemas of tools, calls one, and is refused without a key, in ${revision}`, work: () => inspects(mode),
    })),
  },
  {
    name: "opentelemetry-proto", language: "Rust", version: crate("opentelemetry-proto"),
    checks: [{
      what: "as the types of a receiver of OTLP/HTTP: reads the spans of a coordinator that asks two agents and is killed once; they are one connected trace",
      work: () => receivesTraces(rustOtlp),
    }],
  },
  ...frameworks.map(({ name, from }): Peer => ({
    name, language: "Python", version: pip(from, "requirements-frameworks.txt"), checks: [{ what: ANSWERS, work: () => answersTurns(name, pythonFrameworks) }],
  })),
  { name: "ai", language: "JavaScript", version: npm("ai"), checks: [{ what: ANSWERS, work: () => answersTurns("ai-sdk") }, ...asFunction(POET, FUNCTION)] },
  { name: "@langchain/langgraph", language: "JavaScript", version: npm("@langchain/langgraph"), checks: asFunction(FORECAST, `${FUNCTION}; its tool is called`) },
];

/** Fails if the work takes longer than anything here should. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${milliseconds} ms`)), milliseconds);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

const told: Result[] = [];
const tried = peers.filter(({ name, language }) => (language !== "Python" || python !== "") && name === (only ?? name));
for (const { name, language, version, checks } of tried) {
  console.log(`\n${name} ${version} (${language})`);
  for (const { what, work } of checks) {
    const failure = await within(180_000, work()).then(() => undefined, (error: unknown) => error);
    console.log(`    ${failure === undefined ? "ok" : "FAILED"}  ${what}`);
    if (failure !== undefined) {
      const { stdout = "", stderr = "" } = failure as { stdout?: string; stderr?: string };
      console.log(`${stdout}${stderr}${String((failure as Error).stack ?? failure)}`);
      process.exitCode = 1;
    }
    told.push({ name, language, version, what, passed: failure === undefined });
  }
}

if (tried.length === 0) {
  console.log(`\nNone of them is called ${only}: ${[...new Set(peers.map(({ name }) => name))].join(", ")}.`);
  process.exitCode = 1;
} else if (only !== undefined) {
  console.log("\nThe others were left out, so docs/peers.md stays as it is.");
} else if (tried.length < peers.length) {
  console.log("\nThose in Python were left out, so docs/peers.md stays as it is.");
} else {
  const page = here("../../docs/peers.md");
  writeFileSync(page, results(readFileSync(page, "utf8"), told));
  console.log("\ndocs/peers.md is written.");
}

if (sdk !== undefined && samples !== undefined && only === undefined) {
  console.log("\nSamples of the official SDK");
  const told = await runSamples({ "a2a-js": sdk, "a2a-samples": samples });
  if (told.some(({ passed }) => !passed)) process.exitCode = 1;
  const page = here("../../docs/peers.md");
  writeFileSync(page, results(readFileSync(page, "utf8"), told, SAMPLES));
  console.log("\nTheir table in docs/peers.md is written.");
}
// What is not done in time may still be under way.
process.exit();
