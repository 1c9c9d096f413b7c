// From Rust to the engine of a Worker, a module of JavaScript and one of WebAssembly: cargo, then the bindings, then one bundle, then wasm-opt.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { diagnostics, isStatus, progress } from "./cargo.mjs";
import { adapted, isObject, withShortImports, withUsedExports } from "./glue.mjs";
import { namedByPlace, withoutPlaces } from "./order.mjs";
import { inNpmPackage } from "./packages.mjs";
import { inPackage, inProject, packageDir, projectDir } from "./paths.mjs";
import { cargoProgress, cargoTerminal, environment, plain, run } from "./process.mjs";
import { SYMBOLS } from "./rooms.mjs";
import { Stop, say } from "./ui.mjs";

/** The fixed settings of builds, in addition to sources and compilers; a build depends on them. */
export const RECIPE = {
  wasmFeatures: [
    "mutable-globals", "sign-ext", "nontrapping-float-to-int", "bulk-memory", "multivalue", "reference-types",
  ],
  /** JavaScript resets the top of the stack after a panic (js/panic.js). */
  exports: ["__stack_pointer"],
  /** The stack of Rust, in bytes. The data of the module is behind it: below 2^20, an address takes three bytes instead of four. */
  stackBytes: 768 * 1024,
  shim: readFileSync(inPackage("scripts", "shim", "shim.js"), "utf8"),
  /** The code of a build's own steps. */
  steps: ["compile.mjs", "glue.mjs", "order.mjs", "wasm.mjs"].map((name) => readFileSync(inPackage("scripts", "lib", name), "utf8")),
  /** The name in a module for cargo's folder, with the sources of crates: messages of panics contain paths of sources. */
  sources: "/cargo",
};

const TARGET = "wasm32-unknown-unknown";
const HANDLERS = ["fetch", "queue", "scheduled", "email", "tail", "connect"];

/** Compiles the engine: optimized for size, or quickly; returns its files and inputs, in a folder below the target directory. */
export async function compile(isRelease, bindgen) {
  const crate = await readCrate();
  const profile = isRelease ? "release" : "debug";
  const staging = join(crate.targets, "worker", crate.name, profile);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });

  await compileRust(isRelease, crate);
  const artifact = join(crate.targets, TARGET, profile, crate.name);
  await bind(bindgen, `${artifact}.wasm`, staging);
  const module = isRelease ? await optimizeWithGlue(staging) : join(staging, "index_bg.wasm");
  await bundle(staging);
  return {
    script: join(staging, "bundle.js"),
    module,
    symbols: isRelease ? join(staging, SYMBOLS) : undefined,
    /** The file in which cargo lists the sources of the module. */
    depInfo: `${artifact}.d`,
    targets: crate.targets,
    workspace: crate.workspace,
  };
}

/** Compiles the checker of agent files, a crate of the package, into a WebAssembly module for Node; returns its path and its inputs. */
export async function compileChecker() {
  const { targets, workspace } = await metadata(packageDir);
  const args = ["build", "--release", "--package", CHECKER, "--target", TARGET];
  const { code, printed, output } = await run("cargo", args, {
    cwd: packageDir, shows: progress(), env: environment({ ...cargoTerminal(), ...cargoProgress(), ...rustFlags([]), CARGO_TARGET_DIR: targets }),
  });
  if (code !== 0) throw new Stop(explain(diagnostics(printed), output));
  const artifact = join(targets, TARGET, "release", CHECKER.replaceAll("-", "_"));
  const staging = join(targets, "worker", "checker");
  mkdirSync(staging, { recursive: true });
  const module = await optimize(staging, `${artifact}.wasm`);
  return { module, depInfo: `${artifact}.d`, targets, workspace };
}

const CHECKER = "a2a-edge-checker";

/** The crate of the project: the name of its artifact, cargo's target folder, and the folder of Cargo.lock. */
async function readCrate() {
  const { packages, targets, workspace } = await metadata(projectDir);
  const own = packages.find(({ manifest_path: manifest }) => manifest === inProject("Cargo.toml"));
  const library = own?.targets.find(({ crate_types: types }) => types.includes("cdylib"));
  if (library !== undefined) return { name: library.name.replaceAll("-", "_"), targets, workspace };
  throw new Stop('Cargo.toml has no library that can become a Worker.\n\nAdd:\n\n    [lib]\n    crate-type = ["cdylib"]');
}

/** What cargo says of the workspace of a folder. */
async function metadata(folder) {
  const args = ["metadata", "--no-deps", "--format-version=1"];
  const { code, output } = await run("cargo", args, { cwd: folder, quiet: true });
  const json = output.split("\n").find((line) => line.startsWith("{"));
  if (code !== 0 || json === undefined) throw new Stop(`Cargo.toml cannot be used:\n\n${output.trim()}`);
  const { packages, target_directory: targets, workspace_root: workspace } = JSON.parse(json);
  return { packages, targets, workspace };
}

async function compileRust(isRelease, { targets, workspace }) {
  // As a single crate type: cargo optimizes across crates (LTO) only if every crate type allows it; an rlib does not.
  const args = ["rustc", "--lib", "--crate-type", "cdylib", "--target", TARGET, ...(isRelease ? ["--release"] : [])];
  const { code, printed, output } = await run("cargo", args, {
    cwd: projectDir,
    shows: progress(),
    env: environment({
      ...cargoTerminal(),
      ...cargoProgress(),
      ...(isRelease ? sizeProfile(workspace) : {}),
      CARGO_TARGET_DIR: targets,
      // A setting for the macros of wasm-bindgen: futures then come from js-sys, as in the `worker` crate.
      WASM_BINDGEN_USE_JS_SYS: "1",
      ...rustFlags([...RECIPE.exports.map((name) => `-Clink-arg=--export=${name}`), `-Clink-arg=-zstack-size=${RECIPE.stackBytes}`]),
    }),
  });
  const found = diagnostics(printed);
  if (code !== 0) throw new Stop(explain(found, output));
  if (found.warnings.length > 0) say(`\n${found.warnings.join("\n\n")}\n`);
}

/**
 * The flags of rustc, in addition to those of the environment. With them a module has the same bytes wherever cargo keeps its files; the sources of the
 * workspace have relative paths without them, and std has the same everywhere.
 */
function rustFlags(others) {
  const { CARGO_ENCODED_RUSTFLAGS: encoded, RUSTFLAGS: plainFlags = "", CARGO_HOME = join(homedir(), ".cargo") } = process.env;
  const given = encoded?.split(SEPARATOR) ?? plainFlags.split(/\s+/);
  const own = [`--remap-path-prefix=${resolve(CARGO_HOME)}=${RECIPE.sources}`, ...others];
  // Unlike RUSTFLAGS, this variable allows spaces in a path.
  return { CARGO_ENCODED_RUSTFLAGS: [...given, ...own].filter(Boolean).join(SEPARATOR) };
}

const SEPARATOR = "\x1f";

/** The release profile for a workspace without one: optimized for size. */
function sizeProfile(workspace) {
  if (/^\s*\[profile\.release\]/m.test(readFileSync(join(workspace, "Cargo.toml"), "utf8"))) return {};
  return { CARGO_PROFILE_RELEASE_OPT_LEVEL: "z", CARGO_PROFILE_RELEASE_LTO: "true", CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "1" };
}

/** Creates index.js, the glue, with index_bg.wasm and the snippets of crates. */
async function bind(bindgen, module, staging) {
  const { code, output } = await run(bindgen, [module, staging], { cwd: projectDir, quiet: true });
  if (code !== 0) throw new Stop(`The JavaScript bindings could not be made:\n\n${output.trim()}`);
  const path = join(staging, "index.js");
  // The glue keeps the exports of the module to itself.
  writeFileSync(path, `${adapted(readFileSync(path, "utf8"))}\nexport const stackPointer = () => wasm.__stack_pointer;\n`);
}

/** Bundles the glue with the shim: the start of the Worker and the classes of its Durable Objects. */
async function bundle(staging) {
  const at = (name) => join(staging, name);
  const glue = readFileSync(at("index.js"), "utf8");
  const classes = glue.split(/^export class /m).slice(1).map((text) => text.split(/^}/m)[0]);
  const exported = [...glue.matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => name);
  const handlers = HANDLERS.filter((name) => exported.includes(name));
  // What the functions of a project call by the number of their run: `runBeginStep` is `bridge.beginStep`.
  const calls = exported.flatMap((name) => /^run([A-Z]\w*)$/.exec(name)?.slice(1) ?? []);
  const objects = classes.filter(isObject).map((text) => /^\w+/.exec(text)[0]);
  writeFileSync(at("shim.js"), RECIPE.shim);
  writeFileSync(at("worker.js"), [
    'import * as glue from "./index.js";',
    `import { give } from "./${snippet(staging, "agents.js")}";`,
    `import { giveFunctions } from "./${snippet(staging, "functions.js")}";`,
    `import * as panic from "./${snippet(staging, "panic.js")}";`,
    'import { connect } from "./shim.js";',
    "const { durable, starter } = connect(glue, panic);",
    `export const start = starter({ give, giveFunctions }, ${JSON.stringify(handlers)});`,
    `export const bridge = { ${calls.map((name) => `${name[0].toLowerCase()}${name.slice(1)}: glue.run${name}`).join(", ")} };`,
    ...objects.map((name) => `export const ${name} = durable("${name}");`),
  ].join("\n"));
  const args = [
    "worker.js", "--bundle", "--outfile=bundle.js", "--format=esm", "--minify", "--log-level=warning",
    "--external:cloudflare:*", "--external:./index_bg.wasm",
  ];
  const { code } = await run(inNpmPackage("esbuild", "bin", "esbuild"), args, { cwd: staging });
  if (code !== 0) throw new Stop("esbuild failed; its messages are above.");
}

/** The path of one of the modules of js/, which wasm-bindgen copies to a folder named after their crate. */
function snippet(staging, name) {
  const crates = readdirSync(join(staging, "snippets"));
  const found = crates.map((crate) => ["snippets", crate, "js", name].join("/")).find((path) => existsSync(join(staging, path)));
  if (found === undefined) throw new Stop("The crate does not use a2a-edge: its Worker is made by `a2a_edge::worker!`.");
  return found;
}

/** Makes the module smaller together with its glue; returns its path. */
async function optimizeWithGlue(staging) {
  const [script, from] = ["index.js", "index_bg.wasm"].map((name) => join(staging, name));
  const whole = readFileSync(script, "utf8");
  writeFileSync(from, withUsedExports(readFileSync(from), whole));
  const path = await optimize(staging, from);
  const { module, glue } = withShortImports(readFileSync(path), whole);
  writeFileSync(path, module);
  writeFileSync(script, glue);
  return path;
}

/**
 * Makes the module smaller, and then its gzip, by the order of functions. The names of functions are written to a separate file: a trace contains
 * wasm-function[N], and symbols.txt the name of N.
 */
async function optimize(staging, from) {
  say("    optimizing with wasm-opt");
  const [small, placed, to, symbols] = ["small.wasm", "placed.wasm", "optimized.wasm", SYMBOLS].map((name) => join(staging, name));
  // V8 compiles a function when it is first called. With a limit on what is put into the only caller, the parts of large functions that a request does
  // not need are not compiled for it; the size stays the same.
  await wasmOpt("-Os", "--one-caller-inline-max-function-size=200", "--debuginfo", "--strip-producers", from, "-o", small);
  writeFileSync(placed, namedByPlace(readFileSync(small)));
  await wasmOpt("--reorder-functions-by-name", `--symbolmap=${symbols}`, "--strip-debug", placed, "-o", to);
  writeFileSync(symbols, withoutPlaces(readFileSync(symbols, "utf8")));
  return to;
}

async function wasmOpt(...args) {
  const features = RECIPE.wasmFeatures.map((feature) => `--enable-${feature}`);
  const { code } = await run(inNpmPackage("binaryen", "bin", "wasm-opt"), [...features, ...args], { cwd: projectDir });
  if (code !== 0) throw new Stop("wasm-opt failed; its messages are above.");
}

/** The final message of a failed build: each mistake once. */
function explain({ errors }, output) {
  // Diagnostics contain relative paths for files of the workspace, and absolute paths for files of other crates.
  const inSources = errors.some((error) => / --> [^/]/.test(plain(error)));
  if (inSources) return `${errors.join("\n\n")}\n\nThe Worker was not built; the compiler's errors are above.`;
  const said = output.split("\n").filter((line) => line !== "" && !isStatus(line));
  return `${said.join("\n")}\n\nThe Worker was not built; what the compiler says is above.`;
}
