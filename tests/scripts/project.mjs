// A copy of the project in which scripts can be run for real in moments: npm, Rust and worker-build are stand-ins that
// record their calls, wrangler is the real one unless a test asks for a stand-in.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

const COPIED = ["scripts", "migrations", "package.json", "package-lock.json", "wrangler.toml", "Cargo.toml", "Cargo.lock"];

/** Makes a project. `packages` is "all" (those of this checkout), "no wrangler" (wrangler is a stand-in) or "none". */
export function makeProject({ packages = "all" } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-scripts-"));
  const at = (...parts) => join(folder, ...parts);
  const write = (path, text, mode) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text, { mode });
  };
  for (const name of COPIED) cpSync(join(root, name), at(name), { recursive: true });
  write("agents/one.toml", "one 1");
  write("agents/two.toml", "two 1");
  write("src/lib.rs", "");
  write("calls.log", "");
  write("cache/package.json", '{"type": "commonjs"}');
  if (packages === "all") symlinkSync(join(root, "node_modules"), at("node_modules"));
  if (packages === "no wrangler") {
    mkdirSync(at("node_modules"));
    for (const name of readdirSync(join(root, "node_modules"))) {
      if (name !== "wrangler") symlinkSync(join(root, "node_modules", name), at("node_modules", name));
    }
    const real = JSON.stringify(join(root, "node_modules", "wrangler"));
    write("node_modules/wrangler/package.json", '{"type": "commonjs"}');
    write("node_modules/wrangler/index.js", `module.exports = require(${real});`);
    write("node_modules/wrangler/wrangler-dist/cli.js", WRANGLER);
  }
  for (const name of ["npm", "rustup", "rustc", "cargo", "cc"]) write(`bin/${name}`, TOOL, 0o755);
  const lock = readFileSync(at("Cargo.lock"), "utf8");
  for (const [crate, version, file] of [["worker-build", "worker", "worker-build"], ["wasm-bindgen-cli", "wasm-bindgen", "wasm-bindgen"]]) {
    const locked = new RegExp(`name = "${version}"\\nversion = "([^"]+)"`).exec(lock)[1];
    write(`cache/tools/${crate}-${locked}/bin/${file}`, `#!${process.execPath}\n${WORKER_BUILD}`, 0o755);
  }
  const env = {
    PATH: `${at("bin")}:/usr/bin:/bin`,
    HOME: folder,
    TMPDIR: tmpdir(),
    PROJECT: folder,
    A2A_EDGE_CACHE: at("cache"),
    A2A_EDGE_STABLE: "1",
  };
  return {
    write,
    read: (path) => readFileSync(at(path), "utf8"),
    exists: (path) => existsSync(at(path)),
    /** The names of everything in the project, but for what npm would install. */
    files: () => readdirSync(folder, { recursive: true }).filter((name) => !name.startsWith("node_modules")).sort(),
    /** What the stand-ins were called with, in order: their name and their arguments. */
    calls: () => readFileSync(at("calls.log"), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)),
    /** Starts a script; its output grows while it runs. */
    start(script, ...args) {
      const child = spawn(process.execPath, [at("scripts", `${script}.mjs`), ...args], { cwd: folder, env });
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

// A compiler of the version wanted. While the file `hold-<name>` exists it does not come to its end.
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

// Compiles the texts of the agent files into a Worker that tells them. A file `worker-build.txt` is what it prints
// before it fails.
const WORKER_BUILD = `
const { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const project = process.env.PROJECT;
const record = (...call) => appendFileSync(join(project, "calls.log"), JSON.stringify(call) + "\\n");
record("worker-build", "begins");
if (existsSync(join(project, "worker-build.txt"))) {
  process.stderr.write(readFileSync(join(project, "worker-build.txt")));
  process.exit(1);
}
const agents = join(project, "agents");
const texts = readdirSync(agents).sort().map((name) => readFileSync(join(agents, name), "utf8").trim());
const out = process.argv[process.argv.indexOf("--out-dir") + 1];
setTimeout(() => {
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "index_bg.wasm"), Buffer.from("0061736d01000000", "hex"));
  writeFileSync(join(out, "index.js"), \`
    import { DurableObject } from "cloudflare:workers";
    export class TaskObject extends DurableObject {}
    export default { fetch: () => new Response(\${JSON.stringify(texts.join(", "))}) };
  \`);
  record("worker-build", "ends");
}, 300);
`;

// An account that has no queues.
const WRANGLER = `
const { appendFileSync } = require("node:fs");
const { join } = require("node:path");
const args = process.argv.slice(2);
appendFileSync(join(process.env.PROJECT, "calls.log"), JSON.stringify(["wrangler", ...args]) + "\\n");
if (args[0] === "whoami") console.log('{"loggedIn": true}');
if (args[0] === "queues" && args[1] === "info") process.exit(1);
`;
