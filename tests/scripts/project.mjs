// Places in which scripts can be run for real in moments: a copy of the repository, and projects that depend on it.
// npm, Rust and the tool for bindings are stand-ins that record their calls; wrangler is the real one unless a test
// asks for a stand-in.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectFiles } from "../../create/lib/project.mjs";
import { hashesIn } from "../../scripts/lib/engine.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));

const COPIED = ["scripts", "dev", "migrations", "console", "package.json", "package-lock.json", "wrangler.toml", "Cargo.toml", "Cargo.lock"];
const SOURCES = { "agents/one.toml": "one 1", "agents/two.toml": "two 1", "src/lib.rs": "", "build.rs": "", "calls.log": "" };

/** Makes a copy of the repository. `packages` is "all" (those of this checkout), "no wrangler" (wrangler is a stand-in) or "none". */
export function makeProject({ packages = "all" } = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "a2a-edge-scripts-")));
  const at = (...parts) => join(folder, ...parts);
  const write = writer(folder);
  for (const name of COPIED) cpSync(join(root, name), at(name), { recursive: true });
  for (const [path, text] of Object.entries(SOURCES)) write(path, text);
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

/**
 * Makes a project as `create` does, into which npm has installed this package: with a stand-in for the engine, so that nothing has to be built, and for
 * the checker. `wrangler` is "real" or a stand-in.
 */
export function makeOwnProject({ wrangler = "real" } = {}) {
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), "a2a-edge-own-"))), "own-agent");
  const write = writer(folder);
  for (const [path, text] of projectFiles(folder, { npm: "0.4.0" })) write(path, text);
  rmSync(join(folder, "agents"), { recursive: true });
  for (const [path, text] of Object.entries({ "agents/one.toml": "one 1", "agents/two.toml": "two 1", "calls.log": "" })) write(path, text);

  const packaged = (...parts) => join(folder, "node_modules", "a2a-edge", ...parts);
  for (const name of ["scripts", "dev", "js", "migrations", "package.json"]) cpSync(join(root, name), packaged(name), { recursive: true });
  const inPackage = writer(packaged());
  inPackage("build/index.js", readFileSync(new URL("stand-ins/engine.js", import.meta.url), "utf8"));
  inPackage("build/index_bg.wasm", MODULE);
  inPackage("build/checker.wasm", MODULE);
  inPackage("build/build.json", JSON.stringify({ sha256: hashesIn(packaged()) }));
  inPackage("build-console/assets/console/index.html", "<title>Console</title>");
  cpSync(new URL("stand-ins/checker.mjs", import.meta.url), packaged("scripts", "lib", "checker.mjs"));
  mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
  symlinkSync("../a2a-edge/scripts/a2a-edge.mjs", join(folder, "node_modules", ".bin", "a2a-edge"));
  if (wrangler === "real") symlinkSync(join(root, "node_modules", "wrangler"), join(folder, "node_modules", "wrangler"));
  else standInWrangler(folder);
  return handle(folder, (command) => [packaged("scripts", "a2a-edge.mjs"), command].filter(Boolean));
}

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
function handle(folder, entry) {
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
    A2A_EDGE_STABLE: "1",
  };
  return {
    folder,
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
      const running = { child, output: "" };
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (running.output += chunk));
      running.ended = new Promise((resolve) => child.once("close", (code) => resolve({ code, output: running.output })));
      return running;
    },
    /** Runs a script to its end. */
    run(script, ...args) {
      return this.start(script, ...args).ended;
    },
    /** Removes a file of the project or, without a path, all of it. */
    remove: (path = "") => rmSync(at(path), { recursive: true, force: true, maxRetries: 5 }),
  };
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

// Compiles the texts of the agent files into a module that the stand-in for the bindings reads, and lists what it has
// read. A file `embedded.json` is what its build script embeds, a file `cargo.txt` is what it prints before it fails.
const CARGO = `
const { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const project = process.env.PROJECT;
const args = process.argv.slice(2);
const record = (...call) => appendFileSync(join(project, "calls.log"), JSON.stringify(["cargo", ...call]) + "\\n");
record(...args);
if (args[0] === "metadata") {
  console.log(JSON.stringify({
    packages: [{ manifest_path: join(project, "Cargo.toml"), targets: [{ name: "own-agent", crate_types: ["cdylib"] }] }],
    target_directory: join(project, "target"), workspace_root: project,
  }));
} else if (args[0] === "rustc") {
  if (existsSync(join(project, "cargo.txt"))) {
    process.stderr.write(readFileSync(join(project, "cargo.txt")));
    process.exit(1);
  }
  const agents = join(project, "agents");
  const texts = readdirSync(agents).sort().map((name) => readFileSync(join(agents, name), "utf8").trim());
  setTimeout(() => {
    const out = join(process.env.CARGO_TARGET_DIR, "wasm32-unknown-unknown", args.includes("--release") ? "release" : "debug");
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, "own_agent.wasm"), texts.join(", "));
    const inputs = ["agents", "build.rs", "src/lib.rs", "shared/a file"].map((name) => join(project, name).replaceAll(" ", "\\\\ "));
    if (existsSync(join(project, "embedded.json"))) {
      const made = join(out, "build", "own-agent-1", "out");
      mkdirSync(made, { recursive: true });
      copyFileSync(join(project, "embedded.json"), join(made, "agents.json"));
      inputs.push(join(made, "agents.json"));
    }
    writeFileSync(join(out, "own_agent.d"), [join(out, "own_agent.wasm") + ":", ...inputs].join(" ") + "\\n");
    record("rustc", "ends");
  }, 300);
} else {
  console.log("cargo 1.999.0");
}
`;

// Makes the glue for a Worker that tells the texts, and of which agent it cannot make the executor: of one whose text says so.
const BINDGEN = `
const { readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const [input, out] = process.argv.slice(2);
writeFileSync(join(out, "index_bg.wasm"), Buffer.from("0061736d01000000", "hex"));
writeFileSync(join(out, "index.js"), \`
import source wasmModule from "./index_bg.wasm";
export class TaskObject {
    fetch() {}
}
export function __wbg_reset_state() {}
export function __worker_init_state() { return { instanceId: 1, module: wasmModule }; }
const texts = \${JSON.stringify(readFileSync(input, "utf8"))};
export function fetch(request) {
  if (new URL(request.url).pathname !== "/console/api/agents") return new Response(texts);
  const health = texts.includes("unservable") ? { state: "misconfigured", part: "executor", reason: texts } : { state: "ok" };
  return Response.json({ agents: [{ slug: "one", health }] });
}
\`);
`;

// An account that has no queues. A file `secrets.json` holds the secrets of the Worker.
const WRANGLER = `
const { appendFileSync, existsSync, readFileSync, rmSync } = require("node:fs");
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
if (args[0] === "whoami") console.log('{"loggedIn": true}');
if (args[0] === "queues" && args[1] === "info") process.exit(1);
if (args[0] === "secret") {
  const file = join(process.env.PROJECT, "secrets.json");
  if (!existsSync(file)) process.exit(1);
  console.log(readFileSync(file, "utf8"));
}
`;
