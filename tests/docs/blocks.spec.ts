// Runs the code blocks of README and docs as they are written, against one server. Rust is compiled by `cargo test --doc`
// (src/documentation.rs), agent files are checked by tests/all/docs.rs, which also makes the agents that are served here.

import assert from "node:assert/strict";
import { execFile, type ExecFileException } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startWorker, type Worker } from "../e2e/harness.ts";
import { startModern, type McpPeer } from "../e2e/mcp-servers.ts";
import { configProblem, kindOf, npmProblem, wranglerProblem } from "./commands.mjs";
import { pages, root, type Block, type Page } from "./markdown.mjs";
import { commandsOf, matches, openShell, type Shell } from "./shell.mjs";

const python = process.env["A2A_PYTHON"];
const TIMEOUT_MS = 30_000;

/** How many blocks and commands of each kind were treated in which way. */
const counts = new Map<string, number>();
const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

let worker: Worker;
/** Stands for the receiver of notifications at localhost:9000, and for the servers that agents of the pages call. */
let outside: Server;
/** Stands for the MCP server of docs/tools.md. */
let tools: McpPeer;
let folder: string;
/** What the pages call it by, and what it is here. */
let places: [string, string][];

before(async () => {
  outside = createServer((request, response) => void request.resume().on("end", () => answer(request, response)));
  await once(outside.listen(0, "127.0.0.1"), "listening");
  const own = `127.0.0.1:${(outside.address() as AddressInfo).port}`;
  const agents = readFileSync(process.env["A2A_DOCS_AGENTS"] ?? "", "utf8");
  tools = await startModern();
  const known = agents.replaceAll("https://weather.example.com/mcp", tools.url);
  const vars = { AGENTS: OTHERS.reduce((text, host) => text.replaceAll(`https://${host}`, `http://${own}`), known), DEMO_KEY, BILLING_KEY };
  worker = await startWorker({ vars, hasDev: true });
  places = [["localhost:8787", new URL(worker.url).host], ["localhost:9000", own]];
  // Below the checkout, where the packages are found.
  mkdirSync(join(root, ".wrangler"), { recursive: true });
  folder = mkdtempSync(join(root, ".wrangler", "docs-"));
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  outside.close();
  await Promise.all([worker.stop(), tools.stop()]);
  console.log([...counts].sort().map(([what, number]) => `${number} ${what}`).join(", "));
});

/** The servers that agents of the pages call. */
const OTHERS = ["geocoding-api.open-meteo.com", "httpbin.org", "restcountries.com"];
const DEMO_KEY = "a-key-of-a-demo";
/** The key of docs/security.md. */
const BILLING_KEY = "a-key-for-this-machine";

/** What these servers answer, shortened; nothing else is known. */
function answer({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, "http://outside");
  const json = (value: unknown): void => void response.setHeader("content-type", "application/json").end(JSON.stringify(value));
  if (pathname === "/hook") return void response.writeHead(204).end();
  if (pathname === "/v1/search" && searchParams.get("name") === "Lisbon") {
    return json({ results: [{ id: 2267057, name: "Lisbon", elevation: 45, country_code: "PT", country: "Portugal", population: 517802 }] });
  }
  if (pathname === "/bearer" && headers.authorization === `Bearer ${DEMO_KEY}`) return json({ authenticated: true, token: DEMO_KEY });
  response.writeHead(404).end();
}

const placed = (text: string): string => places.reduce((result, [from, to]) => result.replaceAll(from, to), text);
/** The output as the page would show it. */
const shownAs = (text: string): string => places.reduce((result, [from, to]) => result.replaceAll(to, from), text);

for (const page of pages()) {
  describe(page.path, () => {
    let shell: Shell | undefined;
    after(() => shell?.close());
    for (const block of page.blocks) {
      test(`line ${block.line}: ${block.lang || "no language"}`, async () => {
        if (block.skip !== undefined) return count("not run, with a reason");
        if (["sh", "console"].includes(block.lang)) return runCommands(block, (shell ??= openSession()));
        const runs = RUNS[block.lang];
        assert.ok(runs, `what is a block of ${block.lang || "no language"}? Name one of ${Object.keys(RUNS).join(", ")}, sh, console`);
        await runs(block, page);
      });
    }
  });
}

/** Where the native programs are, which the pages call by aliases. */
const examples = process.env["A2A_EXAMPLES"] ?? join(root, "target", "debug", "examples");

function openSession(): Shell {
  // Commands for operators ask the Worker of this test, as those of the pages ask `npm start`, and find no keys.
  const operator = { A2A_EDGE_URL: worker.url, XDG_CONFIG_HOME: folder };
  return openShell({ cwd: root, env: { ...process.env, PATH: `${examples}:${process.env["PATH"]}`, NO_COLOR: "1", ...operator } });
}

async function runCommands(block: Block, shell: Shell): Promise<void> {
  const said: string[] = [];
  for (const { command, output } of commandsOf(block)) {
    const kind = kindOf(command);
    assert.ok(kind, `nothing is known of this command, so it cannot be tried: ${command}`);
    if (kind === "npm" || kind === "operate") assert.equal(npmProblem(command), undefined);
    if (kind === "wrangler") assert.equal(wranglerProblem(command), undefined);
    else if (kind === "kill") await killAndStart();
    else if (!["left alone", "npm"].includes(kind)) said.push(await runCommand(shell, command, kind, output ?? (block.next?.lang === "text" ? "…" : undefined)));
    count(kind === "left alone" ? "commands left alone" : `commands: ${kind}`);
  }
  // What a block `sh` gives is shown by the block `text` behind it.
  if (block.lang === "sh" && block.next?.lang === "text" && said.length > 0) compare("the block", block.next.text, said.join(""));
}

async function killAndStart(): Promise<void> {
  await worker.kill9();
  await worker.restart();
}

/** The id of the task that was spoken of last in a session: what `TASK=f88b…4c21` of a page stands for. */
const tasks = new WeakMap<Shell, string>();

async function runCommand(shell: Shell, command: string, kind: string, output: string | undefined): Promise<string> {
  if (kind === "client" && command.startsWith("python") && python === undefined) return "";
  const typed = placed(kind === "client" ? withClient(command) : command)
    .replace(/^([A-Z_]+)=\S*…\S*/, `$1=${tasks.get(shell) ?? "no-task"}`)
    .replace(/^python3? /, `${python} `)
    .replace(/^npx a2a-edge /, `node scripts/a2a-edge.mjs `)
    .replace(/^node /, `${process.execPath} --disable-warning=ExperimentalWarning `);
  const { code, output: said } = await shell.run(typed);
  const task = /"task":\s*\{"id":"([^"]+)"/.exec(said)?.[1];
  if (task !== undefined) tasks.set(shell, task);
  assert.equal(code, 0, said);
  if (output !== undefined) compare(command, output, said);
  // An answer that nobody shows must at least be none of these.
  else if (kind === "curl") assert.doesNotMatch(said, /^\s*\{("jsonrpc":"2\.0","id":[^,]*,)?"error":/);
  return said;
}

/** The command with a copy of the client that calls the Worker of this test. */
function withClient(command: string): string {
  return command.replace(/(?:examples\/clients\/)?(send\.\w+)/, (_, name: string) => {
    writeFileSync(join(folder, name), placed(readFileSync(join(root, "examples", "clients", name), "utf8")));
    return join(folder, name);
  });
}

function compare(what: string, shown: string, said: string): void {
  assert.ok(matches(shown, shownAs(said)), `${what}\n\nshows\n\n${shown}\n\nand gave\n\n${shownAs(said)}`);
}

const RUNS: Record<string, (block: Block, page: Page) => Promise<void> | void> = {
  js: (block) => runProgram(block, "mjs", process.execPath),
  ts: (block) => runProgram(block, "ts", process.execPath),
  python: (block) => runProgram(block, "py", python),
  rust: (_, { path }) => {
    const listed = readFileSync(join(root, "src", "documentation.rs"), "utf8");
    assert.ok(listed.includes(`"../${path}"`), `src/documentation.rs does not name ${path}, so its Rust is not compiled`);
    count("Rust, compiled by cargo test --doc");
  },
  toml: ({ text }) => {
    if (!text.startsWith("# wrangler.toml\n")) return count("TOML, checked by cargo test --test all docs::");
    assert.equal(configProblem(text, folder), undefined);
    count("lines of wrangler.toml");
  },
  json: ({ text }) => {
    JSON.parse(text);
    count("JSON, parsed");
  },
  text: () => count("texts"),
  mermaid: () => count("pictures"),
};

/**
 * Runs a whole program. A block `text` behind it is what it prints; a link before it names the file that it is. With a path in its first line it is that file
 * of its page's project, so that later blocks of the page can import it.
 */
async function runProgram(block: Block, extension: string, interpreter: string | undefined): Promise<void> {
  const file = /^\[[^\]]*\]\(([^)#]+)\)$/.exec(block.before)?.[1];
  if (file !== undefined) {
    assert.equal(`${block.text}\n`, readFileSync(join(root, dirname(block.path), file), "utf8"), `${file} is something else`);
    count("programs that are files");
    if (block.next?.lang !== "text") return;
  }
  if (interpreter === undefined) return count("programs left out, for want of Python");
  const page = block.path.replace(/\W/g, "-");
  const named = /^\/\/ (\S+\.ts)\n/.exec(block.text)?.[1];
  const path = named === undefined ? join(folder, `${page}-${block.line}.${extension}`) : join(folder, page, named);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${placed(block.text)}\n`);
  const args = extension === "py" ? [path] : ["--disable-warning=ExperimentalWarning", path];
  const { error, said } = await execute(interpreter, args);
  assert.equal(error, null, said);
  if (block.next?.lang === "text") compare("the program", block.next.text, said);
  count(`programs: ${block.lang}`);
}

function execute(program: string, args: string[]): Promise<{ error: ExecFileException | null; said: string }> {
  return new Promise((resolve) => {
    // A program with tests would otherwise report to the runner of this one.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const options = { cwd: root, timeout: TIMEOUT_MS, env };
    const child = execFile(program, args, options, (error, stdout, stderr) => resolve({ error, said: stdout + stderr }));
    child.stdin?.end();
  });
}
