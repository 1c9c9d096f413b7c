// Tries foreign programs against the built Worker and writes the results into docs/peers.md. Started by scripts/peers.mjs,
// which installs them: `main.ts RUST_PROGRAM [PYTHON]`.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startWorker } from "../e2e/harness.ts";
import { resumes } from "./eventsource.ts";
import { signatures, tokens, withNotifications, type Algorithm, type Received } from "./notifications.ts";
import { results, type Result } from "./page.ts";

const [rust = "", python = ""] = process.argv.slice(2);
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

/** Runs spec files of the end-to-end tests with the SDK of this folder, but for the tests with `skipped` in their title. */
function specs(names: string[], skipped: string): Promise<string> {
  const files = names.map((name) => here(`../e2e/${name}.spec.ts`));
  const imported = `--import=${new URL("own-sdk.mjs", import.meta.url).href}`;
  const options = [imported, "--test", "--test-force-exit", "--test-timeout=120000", `--test-skip-pattern=${skipped}`];
  return runs(process.execPath, ["--disable-warning=ExperimentalWarning", ...options, ...files]);
}

/** Has a program walk through the operations of a Worker of its own. */
async function walks(program: string, args: string[], binding: string, steps: number): Promise<void> {
  const worker = await startWorker();
  try {
    const told = await runs(program, [...args, worker.url, binding]);
    assert.equal(told.match(/: ok$/gm)?.length, steps, told);
  } finally {
    await worker.stop();
  }
}

async function inPython(step: string, received: Received, algorithm: Algorithm): Promise<void> {
  await runs(python, [here("python/notifications.py"), step], JSON.stringify({ ...received, algorithm }));
}

const npm = (name: string): string => {
  const { packages } = JSON.parse(text("package-lock.json")) as { packages: Record<string, { version: string }> };
  return packages[`node_modules/${name}`]?.version ?? "";
};
const pip = (name: string): string => new RegExp(`^${name}==(\\S+)`, "m").exec(text("requirements.txt"))?.[1] ?? "";
const crate = (name: string): string => new RegExp(`name = "${name}"\\nversion = "([^"]+)"`).exec(text("rust/Cargo.lock"))?.[1] ?? "";

const OPERATIONS = "sends, follows, lists, cancels and manages webhooks over";
const SIGNATURES = "verifies the signatures of a webhook's notifications, and refuses other bodies";
const TOKENS = "fetches the keys of the server, verifies the JWTs of a webhook's notifications by them, and refuses those for other receivers, by";
const bindings = ["JSONRPC", "HTTP+JSON"];
const algorithms: Algorithm[] = ["ES256", "EdDSA"];

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
      work: () => specs(["sdk", "rest-sdk"], "throws"),
    }],
  },
  {
    name: "a2a-sdk", language: "Python", version: pip("a2a-sdk"),
    checks: bindings.map((binding) => ({
      what: `the oldest that speaks 1.0: ${OPERATIONS} ${binding}`, work: () => walks(python, [here("../e2e/python/walk.py")], binding, 4),
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
const tried = peers.filter(({ language }) => language !== "Python" || python !== "");
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

if (tried.length < peers.length) {
  console.log("\nThose in Python were left out, so docs/peers.md stays as it is.");
} else {
  const page = here("../../docs/peers.md");
  writeFileSync(page, results(readFileSync(page, "utf8"), told));
  console.log("\ndocs/peers.md is written.");
}
// What is not done in time may still be under way.
process.exit();
