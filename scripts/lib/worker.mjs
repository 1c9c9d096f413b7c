// Compiles the Worker. Whatever asks for it, a build runs only when something it is made of has changed.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { diagnostics, isStatus } from "./cargo.mjs";
import { locked } from "./lock.mjs";
import { binDir, inRoot, root } from "./paths.mjs";
import { cargoTerminal, environment, plain, run } from "./process.mjs";
import { ensureNightly, ensureTools, ensureWasmTarget, rustcVersion } from "./rust.mjs";
import { Stop, say, step } from "./ui.mjs";

/**
 * The builds and where they go. `default` is what wrangler.toml's main points to: the panic-unwind build where
 * its nightly can be had, else the stable one. `stable` exists for the tests, `dev` for `npm run dev`.
 */
export const outputs = { default: "build", stable: "build-stable", dev: "build-dev" };

const MANIFEST = "build.json";
const MODULES = ["index.js", "index_bg.wasm"];
// What the build would embed of tests/agents: the end-to-end tests give it to the Worker at run time.
const TEST_AGENTS = "test-agents.json";
const INPUTS = ["src", "crates", "agents", "tests/agents", "build.rs", "Cargo.toml", ".cargo", "rust-toolchain", "rust-toolchain.toml"];
const WASM_FEATURES = [
  "mutable-globals", "sign-ext", "nontrapping-float-to-int", "bulk-memory", "multivalue", "reference-types",
  "exception-handling",
];

const kinds = {
  unwind: { title: "panic-unwind build", args: ["--release", "--no-opt", "--panic-unwind"], unwind: true, optimize: true },
  stable: { title: "stable build", args: ["--release", "--no-opt"], unwind: false, optimize: true },
  dev: { title: "development build", args: ["--dev"], unwind: false, optimize: false },
};

/** Makes one of the `outputs` current and answers its kind: "unwind", "stable" or "dev". */
export async function ensureBuilt(output) {
  await ensureWasmTarget();
  const tools = await ensureTools();
  const kind = output === "default" ? await defaultKind() : output;
  await locked(inRoot("target", "a2a-edge.lock"), async () => {
    const sources = fingerprint(kind);
    // Cargo may still write Cargo.lock while it builds, so that is read again afterwards.
    if (isCurrent(output, sources + lockHash())) return;
    await step(`Building the Worker (${kinds[kind].title})`, () => build(output, kind, tools));
    writeFileSync(inRoot(outputs[output], MANIFEST), `${JSON.stringify({ kind, inputs: sources + lockHash() }, null, 2)}\n`);
  });
  return kind;
}

async function defaultKind() {
  const obstacle = process.env.A2A_EDGE_STABLE ? "A2A_EDGE_STABLE is set" : await ensureNightly();
  if (obstacle === undefined) return "unwind";
  say(`Using the stable build, in which a panic ends its whole isolate: ${obstacle}.`);
  return "stable";
}

async function build(output, kind, { workerBuild, wasmBindgen }) {
  const { args, unwind, optimize } = kinds[kind];
  const targets = process.env.CARGO_TARGET_DIR || inRoot("target");
  const staging = join(targets, "worker", kind);
  const wasmOpt = join(binDir, "wasm-opt");
  const esbuild = join(binDir, "esbuild");
  for (const tool of [wasmOpt, esbuild]) {
    // worker-build would go and download what it does not find.
    if (!existsSync(tool)) throw new Stop(`${tool} is missing.\n\n    Run: npm ci`);
  }

  // Kept outside of the staging folder, which worker-build empties. A checkout may do without its tests.
  const testAgents = join(targets, "worker", `${kind}-${TEST_AGENTS}`);
  const withTestAgents = optimize && existsSync(inRoot("tests", "agents"));
  mkdirSync(dirname(testAgents), { recursive: true });

  // Left by a build that was stopped; worker-build would wait for its owner.
  rmSync(join(staging, ".tmp"), { recursive: true, force: true });
  const { code, printed, output: text } = await run(workerBuild, [...args, "--out-dir", staging], {
    cwd: root,
    shows: isStatus,
    env: environment({
      ...cargoTerminal(),
      // The two compilers keep apart, or each would throw away what the other has compiled.
      CARGO_TARGET_DIR: unwind ? join(targets, "unwind") : targets,
      // Only nightly, which builds std, reads this.
      CARGO_UNSTABLE_BUILD_STD_FEATURES: "optimize_for_size",
      ...(withTestAgents ? { A2A_EDGE_TEST_AGENTS: testAgents } : {}),
      WASM_BINDGEN_BIN: wasmBindgen,
      WASM_OPT_BIN: wasmOpt,
      ESBUILD_BIN: esbuild,
      // Of worker-build's own failures only the message is of use.
      RUST_BACKTRACE: "0",
    }),
  });
  const found = diagnostics(printed);
  if (code !== 0) throw new Stop(explain(found, text, unwind));
  if (found.warnings.length > 0) say(`\n${found.warnings.join("\n\n")}\n`);

  let wasm = join(staging, "index_bg.wasm");
  if (optimize) {
    // worker-build's own call keeps the names of functions, which weigh a tenth of the upload. Here they go into a
    // file aside: a stack trace says wasm-function[N], and symbols.txt who N is.
    say("    optimizing with wasm-opt");
    const optimized = join(staging, "optimized.wasm");
    const features = WASM_FEATURES.map((feature) => `--enable-${feature}`);
    const passes = ["-Os", `--symbolmap=${join(staging, "symbols.txt")}`, "--strip-debug", "--strip-producers"];
    const { code: failure } = await run(wasmOpt, [...features, ...passes, wasm, "-o", optimized], { cwd: root });
    if (failure !== 0) throw new Stop("wasm-opt failed; its messages are above.");
    wasm = optimized;
  }
  publish(wasm, inRoot(outputs[output], "index_bg.wasm"));
  publish(join(staging, "index.js"), inRoot(outputs[output], "index.js"));
  if (withTestAgents) publish(testAgents, inRoot(outputs[output], TEST_AGENTS));
}

/** Puts a file in its place at once, so that nobody reads half of it. */
function publish(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, `${to}.part`);
  renameSync(`${to}.part`, to);
}

/** The last words after a failed build: each mistake once. */
function explain({ own, errors }, text, unwind) {
  if (own.length > 0) return `The Worker was not built:\n\n    ${own.join("\n    ")}`;
  const inSources = errors.some((error) => / --> (?:src\/|build\.rs)/.test(plain(error)));
  if (inSources) return `${errors.join("\n\n")}\n\nThe Worker was not built; the compiler's errors are above.`;
  const advice = unwind ? "\nIf the nightly toolchain is to blame, A2A_EDGE_STABLE=1 in the environment builds with the stable one." : "";
  const said = text.split("\n").filter((line) => line !== "" && !isStatus(line) && !line.startsWith("[INFO]"));
  return `${said.join("\n")}\n\nThe Worker was not built; what the compiler says is above.${advice}`;
}

function isCurrent(output, inputs) {
  const dir = inRoot(outputs[output]);
  if (!existsSync(join(dir, MANIFEST)) || !MODULES.every((file) => existsSync(join(dir, file)))) return false;
  return JSON.parse(readFileSync(join(dir, MANIFEST), "utf8")).inputs === inputs;
}

/** A hash of everything a build is made of, but Cargo.lock, which also tells the versions of the Rust tools. */
function fingerprint(kind) {
  const hash = createHash("sha256");
  const packages = JSON.parse(readFileSync(inRoot("package-lock.json"), "utf8")).packages;
  hash.update(
    JSON.stringify([
      kinds[kind], WASM_FEATURES, rustcVersion(kinds[kind].unwind), process.env.RUSTFLAGS,
      packages["node_modules/binaryen"]?.version, packages["node_modules/esbuild"]?.version,
    ]),
  );
  for (const file of INPUTS.flatMap((path) => filesUnder(inRoot(path)))) {
    hash.update(`\0${relative(root, file)}\0`).update(readFileSync(file));
  }
  return hash.digest("hex");
}

function lockHash() {
  return createHash("sha256").update(readFileSync(inRoot("Cargo.lock"))).digest("hex");
}

function filesUnder(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path).sort().flatMap((name) => filesUnder(join(path, name)));
}
