// Places in which scripts can be run for real in moments: a copy of the repository, and projects that depend on it.
// npm, Rust and the tool for bindings are stand-ins that record their calls; wrangler is the real one unless a test
// asks for a stand-in.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectFiles } from "../../create/lib/project.mjs";
import { ENTRY } from "../../scripts/lib/config.mjs";
import { hashesIn } from "../../scripts/lib/engine.mjs";
import { freePort } from "../../scripts/lib/port.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));

const COPIED = ["scripts", "dev", "js", "migrations", "console", "package.json", "package-lock.json", "wrangler.toml", "Cargo.toml", "Cargo.lock", "src/index.ts", "src/tools.ts"];
const SOURCES = { "agents/one.toml": "one 1", "agents/two.toml": "two 1", "calls.log": "" };

/** Makes a copy of the repository. `packages` is "all" (those of this checkout), "no wrangler" (wrangler is a stand-in) or "none". */
export function makeProject({ packages = "all" } = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "a2a-edge-scripts-")));
  const at = (...parts) => join(folder, ...parts);
  const write = writer(folder);
  for (const name of COPIED) cpSync(join(root, name), at(name), { recursive: true });
  for (const [path, text] of Object.entries({ ...SOURCES, "src/lib.rs": "rust 1" })) write(path, text);
  standInChecker(folder);
  if (packages === "all") symlinkSync(join(root, "node_modules"), at("node_modules"));
  if (packages === "no wrangler") {
    mkdirSync(at("node_modules"));
    for (const name of readdirSync(join(root, "node_modules"))) {
      if (name !== "wrangler") symlinkSync(join(root, "node_modules", name), at("node_modules", name));
    }
    standInWrangler(folder);
  }
  return handle(folder, (script) => [at("scripts", `${script}.mjs`)]);
}

/** The version of the package. */
export const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/**
 * Makes a project as `create` does, but without functions, into which npm has installed this package: with a stand-in for the engine, so that nothing has
 * to be built, and for the checker. With `rust`, it compiles an engine of its own. `wrangler` is "real" or a stand-in.
 */
export function makeOwnProject({ rust = false, wrangler = "real" } = {}) {
  // Below the folder of a test: its name is that of the Worker, which has no capitals.
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), "a2a-edge-own-"))), "own-agent");
  const write = writer(folder);
  for (const [path, text] of projectFiles(folder, { npm: version, crate: rust ? `version = "${version}"` : undefined })) write(path, text);
  for (const path of ["agents", "src/orders.ts", "src/tools.ts", "tests/functions.test.mjs"]) rmSync(join(folder, path), { recursive: true });
  for (const [path, text] of Object.entries({ ...SOURCES, "src/index.ts": ENTRY, ...(rust ? { "src/lib.rs": "rust 1" } : {}) })) write(path, text);

  const packaged = join(folder, "node_modules", "a2a-edge");
  for (const name of ["scripts", "dev", "js", "migrations", "package.json"]) cpSync(join(root, name), join(packaged, name), { recursive: true });
  for (const name of ["engine.js", "answer.js"]) writer(packaged)(`build/${name}`, standIn(name));
  for (const name of ["index_bg.wasm", "checker.wasm"]) writer(packaged)(`build/${name}`, MODULE);
  writer(packaged)("build/build.json", JSON.stringify({ rust: "1.91", sha256: hashesIn(packaged) }));
  writer(packaged)("build-console/assets/console/index.html", "<title>Console</title>");
  standInChecker(packaged);
  mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
  symlinkSync("../a2a-edge/scripts/a2a-edge.mjs", join(folder, "node_modules", ".bin", "a2a-edge"));
  for (const name of ["wrangler", ...(rust ? ["esbuild", "binaryen"] : [])]) {
    if (name === "wrangler" && wrangler !== "real") standInWrangler(folder);
    else symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  return handle(folder, (command) => [join(packaged, "scripts", "a2a-edge.mjs"), command].filter(Boolean), dirname(folder));
}

const standIn = (name) => readFileSync(new URL(`stand-ins/${name}`, import.meta.url), "utf8");

/** Puts the stand-in for the checker into a package. */
const standInChecker = (folder) => writer(folder)("scripts/lib/checker.mjs", standIn("checker.mjs"));

/** The shortest module of WebAssembly. */
const MODULE = Buffer.from("0061736d01000000", "hex");

/** Puts a stand-in for wrangler's command line into a project; configurations are read by the real one. */
function standInWrangler(folder) {
  const write = writer(folder);
  const real = JSON.stringify(join(root, "node_modules", "wrangler"));
  write("node_modules/wrangler/package.json", '{"type": "commonjs", "version": "1.0.0"}');
  write("node_modules/wrangler/index.js", `module.exports = require(${real});`);
  write("node_modules/wrangler/wrangler-dist/cli.js", WRANGLER);
}

function writer(folder) {
  return (path, text, mode) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode });
  };
}

/** What tests do with a project; `entry` answers the arguments of node that start a command. */
function handle(folder, entry, place = folder) {
  const at = (...parts) => join(folder, ...parts);
  const write = writer(folder);
  for (const name of ["npm", "rustup", "rustc", "cc"]) write(`bin/${name}`, TOOL, 0o755);
  write("bin/package.json", '{"type": "commonjs"}');
  write("bin/cargo", `#!${process.execPath}\n${CARGO}`, 0o755);
  const sources = ["Cargo.toml", "Cargo.lock", "src/main.rs"].map((name) => readFileSync(join(root, "scripts", "bindgen", name)));
  const version = createHash("sha256").update(Buffer.concat(sources)).digest("hex").slice(0, 12);
  write("cache/package.json", '{"type": "commonjs"}');
  write(`cache/tools/bindgen-${version}`, `#!${process.execPath}\n${BINDGEN}`, 0o755);
  const env = {
    PATH: `${at("bin")}:${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: folder,
    TMPDIR: tmpdir(),
    PROJECT: folder,
    A2A_EDGE_CACHE: at("cache"),
  };
  return {
    folder,
    /** The environment of what is started. */
    env,
    write,
    read: (path) => readFileSync(at(path), "utf8"),
    exists: (path) => existsSync(at(path)),
    /** The names of everything in the project, but for what npm would install. */
    files: () => readdirSync(folder, { recursive: true }).filter((name) => !name.startsWith("node_modules")).sort(),
    /** What the stand-ins were called with, in order: their name and their arguments. */
    calls: () => readFileSync(at("calls.log"), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)),
    /** Starts a script; its output grows while it runs. */
    start(script, ...args) {
      return this.node(...entry(script), ...args);
    },
    /** Starts Node in the project. */
    node(...args) {
      const child = spawn(process.execPath, args, { cwd: folder, env });
      const running = { child, output: "", stdout: "" };
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (running.output += chunk));
      child.stdout.on("data", (chunk) => (running.stdout += chunk));
      running.ended = new Promise((resolve) => child.once("close", (code) => resolve({ code, output: running.output })));
      return running;
    },
    /** Runs a script to its end. */
    run(script, ...args) {
      return this.start(script, ...args).ended;
    },
    /** Removes a file of the project or, without a path, all of it. */
    remove: (path) => rmSync(path === undefined ? place : at(path), { recursive: true, force: true, maxRetries: 5 }),
    /** The path of a file of the project. */
    at,
  };
}

/** Starts `dev` in a project, and waits until it serves. Gives the process, the URL, and `answered`: what the Worker answers, {} while wrangler starts anew. */
export async function startDev(project) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const dev = project.start("dev", "--port", String(port), "--inspector-port", String(await freePort()));
  await until(() => dev.output.includes("a2a-edge serves at") || dev.child.exitCode !== null, "it serves");
  assert.equal(dev.child.exitCode, null, dev.output);
  const answered = async () => {
    try {
      return await (await fetch(url)).json();
    } catch {
      return {};
    }
  };
  return { dev, url, answered };
}

/** Waits until `condition` answers something true, and answers that. */
export async function until(condition, what) {
  for (let tries = 0; tries < 600; tries += 1) {
    const answer = await condition();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`waited in vain until ${what}`);
}

// A program of the version wanted. While the file `hold-<name>` exists it does not come to its end.
const TOOL = `#!/bin/sh
name=\${0##*/}
args=
for arg; do args="$args,\\"$arg\\""; done
printf '["%s"%s]\\n' "$name" "$args" >> "$PROJECT/calls.log"
while [ -e "$PROJECT/hold-$name" ]; do sleep 0.05; done
case "$*" in
  *target-libdir*) echo "$PROJECT" ;;
  *) echo "$name 1.999.0" ;;
esac
`;

// Compiles the text of src/lib.rs into a module that the stand-in for the bindings reads, and lists what it has read; the checker is a module that does
// nothing. A file `cargo.txt` is what it prints before it fails.
const CARGO = `
const { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const project = process.env.PROJECT;
const args = process.argv.slice(2);
const record = (...call) => appendFileSync(join(project, "calls.log"), JSON.stringify(["cargo", ...call]) + "\\n");
record(...args);
const out = join(process.env.CARGO_TARGET_DIR ?? "", "wasm32-unknown-unknown", args.includes("--release") ? "release" : "debug");
const made = (name, content, inputs) => {
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, name + ".wasm"), content);
  writeFileSync(join(out, name + ".d"), [join(out, name + ".wasm") + ":", ...inputs.map((path) => join(project, path).replaceAll(" ", "\\\\ "))].join(" ") + "\\n");
};
if (args[0] === "metadata") {
  console.log(JSON.stringify({
    packages: [{ manifest_path: join(project, "Cargo.toml"), targets: [{ name: "own-agent", crate_types: ["cdylib"] }] }],
    target_directory: join(project, "target"), workspace_root: project,
  }));
} else if (args[0] === "build" && args.includes("a2a-edge-checker")) {
  made("a2a_edge_checker", Buffer.from("0061736d01000000", "hex"), ["crates/checker/src/lib.rs"]);
} else if (args[0] === "rustc") {
  if (existsSync(join(project, "cargo.txt"))) {
    process.stderr.write(readFileSync(join(project, "cargo.txt")));
    process.exit(1);
  }
  const text = readFileSync(join(project, "src/lib.rs"), "utf8").trim();
  setTimeout(() => {
    made("own_agent", text, ["src/lib.rs", "shared/a file"]);
    record("rustc", "ends");
  }, 300);
} else {
  console.log("cargo 1.999.0");
}
`;

// Makes the glue for a Worker that answers as stand-ins/answer.js says.
const BINDGEN = `
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const [input, out] = process.argv.slice(2);
const snippets = join(out, "snippets", "a2a-edge-1", "js");
mkdirSync(snippets, { recursive: true });
writeFileSync(join(snippets, "answer.js"), ${JSON.stringify(standIn("answer.js"))});
writeFileSync(join(snippets, "agents.js"), 'import { state } from "./answer.js";\\nexport function give(agents) { state.served = agents; }\\n');
writeFileSync(join(snippets, "functions.js"), 'export function giveFunctions() {}\\n');
writeFileSync(join(snippets, "panic.js"), 'export const giveInstance = () => {};\\nexport const noteStop = () => false;\\nexport const recover = () => true;\\nexport const restart = () => {};\\n');
writeFileSync(join(out, "index_bg.wasm"), Buffer.from("0061736d01000000", "hex"));
writeFileSync(join(out, "index.js"), \`
import source wasmModule from "./index_bg.wasm";
import { answer } from "./snippets/a2a-edge-1/js/answer.js";
export class TaskObject {
    fetch() {}
}
export function __wbg_reset_state() {}
export function __worker_init_state() { return { instanceId: 1, module: wasmModule }; }
export function engineVersion() { return ${JSON.stringify(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version)}; }
export function fetch(request, env) { return answer(request, env, \${JSON.stringify(readFileSync(input, "utf8"))}); }
\`);
`;

// An account that has nothing. A file `secrets.json` holds the secrets of the Worker, `values.json` those that were set, and `refusal.txt` why nothing can be; `queues.json`, `d1.json`, `deployments.json` and `versions.json` what else the account
// has, and `whoami.json` who is logged in.
const WRANGLER = `
const { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const args = process.argv.slice(2);
appendFileSync(join(process.env.PROJECT, "calls.log"), JSON.stringify(["wrangler", ...args]) + "\\n");
if (args[0] === "dev") {
  console.log("Ready on http://somewhere\\n⎔ Connection status updated\\nenv.DB (a2a-edge)   D1 Database   local\\nPOST / 200 OK");
  // As wrangler does whose runtime died: it says so, and hangs.
  const crash = join(process.env.PROJECT, "crash.txt");
  if (existsSync(crash)) {
    rmSync(crash);
    console.log("The Workers runtime crashed unexpectedly and is being restarted (crash #1).");
    setInterval(() => {}, 1000);
  }
}
const read = (name) => (existsSync(join(process.env.PROJECT, name)) ? readFileSync(join(process.env.PROJECT, name), "utf8") : undefined);
/** Ends with what a file of the account has, or with an error. */
const told = (name, error) => {
  const text = read(name);
  console.log(text ?? error);
  process.exit(text === undefined ? 1 : 0);
};
if (args[0] === "whoami") told("whoami.json", '{"loggedIn": true}');
if (args[0] === "queues" && args[1] === "info") process.exit((read("queues.json") ?? "").includes('"' + args[2] + '"') ? 0 : 1);
if (args[0] === "secret") {
  if (read("refusal.txt") !== undefined) {
    console.log(read("refusal.txt"));
    process.exit(1);
  }
  const [, what, name] = args;
  const write = (file, value) => writeFileSync(join(process.env.PROJECT, file), JSON.stringify(value));
  const others = JSON.parse(read("secrets.json") ?? "[]").filter((secret) => secret.name !== name);
  if (what === "put") {
    write("secrets.json", [...others, { name, type: "secret_text" }]);
    write("values.json", { ...JSON.parse(read("values.json") ?? "{}"), [name]: readFileSync(0, "utf8") });
  } else if (what === "delete") write("secrets.json", others);
  else {
    console.log("▲ [WARNING] Multiple environments are defined [in wrangler.toml]");
    told("secrets.json", "");
  }
}
if (args[0] === "deployments") told("deployments.json", "This Worker does not exist on your account. [code: 10007]");
if (args[0] === "versions") told("versions.json", "");
if (args[0] === "d1" && args[1] === "execute") told("d1.json", "Couldn't find a D1 DB named 'own-agent' (bound as 'DB') in the API.");
// What is packed: a module of a size that a test asks for, of letters that cannot be compressed.
const outdir = args.find((arg) => arg.startsWith("--outdir="));
if (args[0] === "deploy" && outdir !== undefined) {
  const size = Number(read("size.txt") ?? 1000);
  writeFileSync(join(outdir.slice("--outdir=".length), "index.js"), require("node:crypto").randomBytes(size));
}
if (args[0] === "deploy" && outdir === undefined) console.log("  https://own-agent.example.workers.dev");
`;
