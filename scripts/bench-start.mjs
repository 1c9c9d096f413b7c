// `npm run bench:start`: measures what the author of a project waits for: from an empty folder to the first answer, and from a saved file to its answer. The
// figures are a section of docs/benchmarks.md.
import "./lib/node-version.mjs";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { signalGroup } from "./lib/guard.mjs";
import { readOptions } from "./lib/options.mjs";
import { packCreate, packEngine } from "./lib/pack.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { freePort } from "./lib/port.mjs";
import { run, start } from "./lib/process.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main, say } from "./lib/ui.mjs";

const usage = `Usage: npm run bench:start

Makes a project of the packed packages in an empty folder, starts it, and prints the seconds to the first answer. Then, under
"a2a-edge dev", saves an agent twenty times and a secret three times, and prints how long each took to be served. What npm
fetches is kept in its cache: the second run says what all but the network takes. Writes the figures into bench/results.json and
docs/benchmarks.md.

    -h, --help   this text`;

const SAVES = 20;
const SECRETS = 3;
const POLL_MS = 5;
const PATIENCE_MS = 120_000;

/** What was measured: names and values. */
const rows = [];

await main(async () => {
  readOptions({ usage });
  await setUpAndBuild();
  const place = mkdtempSync(join(tmpdir(), "a2a-edge-start-"));
  try {
    await measure(place);
  } finally {
    rmSync(place, { recursive: true, force: true, maxRetries: 5 });
  }
  const args = ["--disable-warning=ExperimentalWarning", inPackage("bench", "project.ts"), JSON.stringify(rows)];
  const { code } = await run(packagedNode(), args, { cwd: packageDir });
  if (code !== 0) throw new Stop("The figures were not stored; the messages are above.");
});

async function measure(place) {
  const [engine, create] = [await packEngine(place), await packCreate(place)];
  row("size of the tarballs", [engine, create].map((path) => `${(statSync(path).size / 1e6).toFixed(2)} MB`).join(", "));
  await command(place, "tar", "-xzf", create);
  const folder = join(place, "bench-agents");
  const begun = performance.now();
  await command(place, packagedNode(), join("package", "index.mjs"), "bench-agents", "--package", engine);
  row("npm install and git", seconds(performance.now() - begun));
  row("first start to first answer", seconds(await serving(folder, "start", () => {})));
  row("empty folder to first answer", seconds(performance.now() - begun));
  row("later start to first answer", seconds(await serving(folder, "start", () => {})));
  await serving(folder, "dev", (url) => measureChanges(folder, url));
  row("load of the machine", loadavg().map((load) => load.toFixed(1)).join(" "));
}

/** Starts the project, waits for the first answer, then does `work`. Returns the time to the answer. */
async function serving(folder, name, work) {
  const [port, inspector] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const begun = performance.now();
  const program = join(folder, "node_modules", "a2a-edge", "scripts", "a2a-edge.mjs");
  const env = { ...process.env, PATH: `${dirname(packagedNode())}:${process.env.PATH}` };
  const child = start(packagedNode(), [program, name, "--port", String(port), "--inspector-port", String(inspector)], { cwd: folder, env });
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  const ended = once(child, "close");
  try {
    await until(async () => (await ask(url, "hello", "hello"))?.text?.startsWith("Hello!"));
    const ms = performance.now() - begun;
    await work(url);
    return ms;
  } finally {
    signalGroup(child.pid, "SIGTERM");
    await ended;
  }
}

async function measureChanges(folder, url) {
  const file = join(folder, "agents", "hello.toml");
  const text = readFileSync(file, "utf8");
  const saves = [];
  for (let number = 0; number < SAVES; number += 1) {
    saves.push(await timed(() => writeFileSync(file, text.replace("You said:", `Save ${number}:`)), async () => (await ask(url, "hello", "a"))?.text === `Save ${number}: a`));
  }
  saves.sort((one, other) => one - other);
  row(`saved agent to answer, of ${SAVES}`, `median ${Math.round((saves[SAVES / 2 - 1] + saves[SAVES / 2]) / 2)} ms, ${saves[0]} to ${saves[SAVES - 1]} ms`);

  // The agent places calls the server that this variable names, which answers with the path.
  const server = createServer((request, response) => response.setHeader("content-type", "application/json").end(JSON.stringify({ results: [request.url] }))).listen(0, "127.0.0.1");
  await once(server, "listening");
  const secrets = [];
  for (let number = 0; number < SECRETS; number += 1) {
    const save = () => writeFileSync(join(folder, ".dev.vars"), `PLACES_URL=http://127.0.0.1:${server.address().port}/change-${number}\n`);
    secrets.push(await timed(save, async () => (await ask(url, "places", "Lisbon"))?.text?.startsWith(`/change-${number}/`)));
  }
  server.close();
  server.closeAllConnections();
  row("changed secret to answer", secrets.map((ms) => `${ms} ms`).join(", "));
}

/** The milliseconds from the call of `change` until `isServed`. */
async function timed(change, isServed) {
  const begun = performance.now();
  change();
  await until(isServed);
  return Math.round(performance.now() - begun);
}

/** The first part that an agent answers to a text; undefined while there is no answer. */
async function ask(url, slug, text) {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  try {
    const answer = await fetch(`${url}/${slug}/message:send`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ message }), signal: AbortSignal.timeout(5_000),
    });
    const { task } = await answer.json();
    return task?.artifacts?.[0]?.parts[0];
  } catch {
    return undefined;
  }
}

async function until(condition) {
  const patience = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > patience) throw new Stop("The project did not answer as it was expected to.");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function command(cwd, program, ...args) {
  const env = { ...process.env, PATH: `${dirname(packagedNode())}:${process.env.PATH}` };
  const { code, output } = await run(program, args, { cwd, env, quiet: true });
  if (code !== 0) throw new Stop(`${program} failed:\n\n${output.trim()}`);
}

function row(name, value) {
  rows.push([name, value]);
  say(`${name.padEnd(32)} ${value}`);
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
