// `npm test`: sets everything up, then runs every check. The steps are listed below, in order.
import "./lib/node-version.mjs";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { factsOf, shownProblems, writeAgents } from "./lib/agents.mjs";
import { check } from "./lib/checker.mjs";
import { checkDependencies } from "./lib/deny.mjs";
import { outputs } from "./lib/engine.mjs";
import { findLeaks } from "./lib/leaks.mjs";
import { readOptions } from "./lib/options.mjs";
import { inNpmPackage, packagedNode } from "./lib/packages.mjs";
import { ensurePython } from "./lib/python.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { cargoTerminal, environment, run } from "./lib/process.mjs";
import { ensureComponents, ensureWasmTarget } from "./lib/rust.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUp } from "./lib/setup.mjs";
import { printRooms } from "./lib/rooms.mjs";
import { printConsoleSize, printSize } from "./lib/size.mjs";
import { tryPackage } from "./lib/trial-package.mjs";
import { NotChecked, Stop, duration, main, say, seconds } from "./lib/ui.mjs";
import { TEST_AGENTS, ensureBuilt } from "./lib/worker.mjs";
import { wrangler } from "./lib/wrangler.mjs";

const TEST_TIMEOUT_MS = 120_000;

/** How the names of spec files end. */
const SPEC = ".spec.ts";

/** How many test files run at once. They wait more than they compute, so more of them than cores pay off on a small machine. */
const WAITING = Math.max(3, cpus().length - 1);

/** What native programs need; without it, only the ports of the Worker are compiled. */
const NATIVE = "a2a-edge-protocol/native,a2a-edge-mcp/native";

/** The first words of the outcome of a step that could not check anything on this machine. It does not count as a failure. */
const NOT_CHECKED = "not checked";

/** The number of longest steps and spec files that are printed. */
const LONGEST = 5;

/** The specs that run against the Worker of tests/probes, too: that a project with Rust serves at all. By name, all specs do. */
const PROBES_SPECS = ["smoke"];

/** The specs of what is read from the index. They run with the index in objects, too; by name, all specs do. */
const INDEX_SPECS = [
  "chosen-ids", "deletion", "deletion-context", "forget", "isolation", "list-tasks", "list-tasks-index", "list-tasks-pages", "metrics", "model-limits", "overview", "overview-access", "prune", "quota", "quota-agent", "retention", "usage", "webhook-list",
];

/** The specs that count calls, of which there are more where a Worker has to wait for the processor: they run alone, after the others. */
const COUNTING_SPECS = ["costs"];

/** The specs of `--quick`: the operations that clients call, and an agent that calls a model and tools. */
const QUICK_SPECS = ["smoke", "model"];

/** The project of the tests, whose tools and executors nobody deploys. */
const PROBES = inPackage("tests", "probes");

/** What `build` made, for the steps that need it. */
const built = {};

const steps = [
  { name: "format", title: "Format (cargo fmt --check)", work: () => cargo("fmt", "--check") },
  {
    name: "lint-host",
    title: "Lint, host (cargo clippy)",
    work: () => cargo("clippy", "--workspace", "--all-targets", "--features", NATIVE, "--", "-D", "warnings"),
  },
  {
    name: "lint-wasm",
    title: "Lint, WebAssembly (cargo clippy)",
    work: () => cargo("clippy", "--lib", "--target", "wasm32-unknown-unknown", "--", "-D", "warnings"),
  },
  { name: "deny", title: "Dependencies (cargo deny)", work: checkDependencies },
  { name: "docs", title: "Docs (cargo doc)", work: () => cargo("doc", "--workspace", "--no-deps", "--features", NATIVE) },
  { name: "unit", title: "Unit and property tests (cargo test)", work: () => cargo("test", "--workspace", "--features", NATIVE) },
  { name: "scripts", title: "Tests of the npm scripts, of js/, and of links and paths in the docs (node --test)", work: testScripts },
  { name: "types", title: "Types of the end-to-end tests, of js/, of dev/, and of what authors write (tsc)", work: checkTypes },
  { name: "build", title: "Builds of the Worker and of tests/probes", work: buildBoth },
  { name: "testing", title: "Test agents: the engine in Node, in simulated time (node --test)", needs: ["build"], work: testTesting },
  { name: "size", title: "Size of the upload", needs: ["build"], work: () => [printSize("default"), printRooms({ all: false })].every(Boolean) },
  { name: "package", title: "The npm packages: a project made of the tarballs, without Rust", needs: ["build"], work: tryPackage },
  { name: "python", title: "Python SDK for the end-to-end tests", work: findPython },
  { name: "native", title: "Native programs that call agents and tools (cargo build --examples)", work: buildNative },
  { name: "docs-blocks", title: "Code blocks of README and docs, run against a server, and the examples in TypeScript", needs: ["build", "python", "native"], work: runDocs },
  { name: "e2e-default", title: "End-to-end tests of what is deployed", needs: ["build", "python", "native"], work: (filter) => endToEnd(filter) },
  { name: "e2e-objects", title: "End-to-end tests of what is read from the index, with the index in objects", needs: ["build", "python", "native"], work: testObjects },
  { name: "e2e-probes", title: "End-to-end tests of tests/probes (tools and executors in Rust, panics)", needs: ["build", "python"], work: testProbes },
  { name: "console", title: "The console: types, unit tests, size, and what it does in a browser", needs: ["build"], work: testConsole },
];

/** The steps of `--quick`. tests/probes is left out. */
const quickSteps = [
  ...["format", "lint-host", "unit"].map((name) => steps.find((step) => step.name === name)),
  { name: "build", title: "Build of the Worker that is deployed", work: buildDefault },
  {
    name: "e2e-default",
    title: `End-to-end tests of what is deployed (${QUICK_SPECS.join(", ")})`,
    needs: ["build"],
    work: () => endToEnd(undefined, QUICK_SPECS),
  },
];

const usage = `Usage: npm test [-- STEP...] [--only STEP,STEP] [--quick]

Without a step, all of them run, in this order:

${steps.map(({ name, title }) => `    ${name.padEnd(12)} ${title}`).join("\n")}

"lint" means both lints, "e2e" all end-to-end runs. "e2e:card" runs the spec files with "card" in their name or,
if there is none, the tests with "card" in their title; so do "e2e-default:card" and "e2e-probes:card" with one Worker only,
and "console:card" with the specs in a browser. Without such a filter the Worker of tests/probes is tested with its own spec
files and with these: ${PROBES_SPECS.join(", ")}.

    --only STEP,STEP   the same as naming the steps
    --quick            ${quickSteps.map(({ name }) => name).join(", ")}: with one build only, and of the
                       end-to-end tests the files ${QUICK_SPECS.join(" and ")} only; some minutes, to run before each commit
    -h, --help         this text

A2A_LOGS=1 in the environment shows what the Worker logs during the end-to-end tests.
CHROME_PATH names the browser of the step "console"; on Linux x64 npm brings one, elsewhere an installed Chrome is found.
A2A_DENY=required makes the step "deny" fail where cargo-deny is not installed; otherwise it says that it has not checked anything.`;

await main(async () => {
  const chosen = choose();
  await setUp();
  await ensureComponents([["rustfmt", "fmt"], ["clippy", "clippy"]]);
  await ensureWasmTarget();

  const results = [];
  const begun = Date.now();
  for (const { step, filter } of chosen) {
    const stepBegun = Date.now();
    results.push({ name: step.name, outcome: await perform(step, filter, results), ms: Date.now() - stepBegun });
  }

  say(`\n${results.length} steps took ${duration(Date.now() - begun)}, the longest: ${longest(results)}`);
  const others = results.filter(({ outcome }) => outcome !== "passed");
  say(`${results.length - others.length} of ${results.length} steps passed`);
  for (const { name, outcome } of others) say(`    ${name}: ${outcome}`);
  if (others.some(({ outcome }) => !outcome.startsWith(NOT_CHECKED))) process.exit(1);
});

/** Lists the items that took longest, each with its time. */
function longest(items) {
  const sorted = [...items].sort((one, other) => other.ms - one.ms);
  return sorted.slice(0, LONGEST).map(({ name, ms }) => `${name} ${duration(ms)}`).join(", ");
}

/** The steps that the arguments select, each with its filter, including the steps that they need. */
function choose() {
  const { values, positionals, refuse } = readOptions({ usage, options: { only: { type: "string", multiple: true }, quick: { type: "boolean" } }, positionals: true });
  const selectors = [...positionals, ...(values.only || [])].flatMap((given) => given.split(",")).filter(Boolean);
  if (values.quick && selectors.length > 0) throw refuse("--quick has its own steps, so no step can be named with it.");
  if (values.quick) return quickSteps.map((step) => ({ step }));
  if (selectors.length === 0) return steps.map((step) => ({ step }));

  const filters = new Map();
  for (const selector of selectors) {
    const [name, ...rest] = selector.split(":");
    const matching = steps.filter((step) => step.name === name || step.name.startsWith(`${name}-`));
    if (matching.length === 0) throw refuse(`There is no step "${name}".`);
    for (const step of matching) {
      filters.set(step.name, rest.join(":"));
      for (const needed of step.needs ?? []) if (!filters.has(needed)) filters.set(needed, "");
    }
  }
  return steps.filter(({ name }) => filters.has(name)).map((step) => ({ step, filter: filters.get(step.name) }));
}

async function perform({ title, needs = [], work }, filter, results) {
  say(`\n==> ${title}`);
  const missing = results.find(({ name, outcome }) => needs.includes(name) && outcome !== "passed");
  if (missing !== undefined) {
    say(`    skipped, because the step "${missing.name}" did not pass`);
    return "skipped";
  }
  const begun = Date.now();
  let passed;
  try {
    passed = (await work(filter)) !== false;
  } catch (error) {
    if (error instanceof NotChecked) {
      say(`    ${NOT_CHECKED}, ${error.message}`);
      return `${NOT_CHECKED}, ${error.message}`;
    }
    if (!(error instanceof Stop)) throw error;
    say(`\n${error.message}\n`);
    passed = false;
  }
  say(`    ${passed ? "passed" : "FAILED"} after ${seconds(begun)}`);
  return passed ? "passed" : "failed";
}

async function command(program, args, env = {}) {
  const { code } = await run(program, args, { cwd: packageDir, env: environment(env) });
  return code === 0;
}

function cargo(...args) {
  return command("cargo", args, { ...cargoTerminal(), ...(args[0] === "doc" ? { RUSTDOCFLAGS: "-D warnings" } : {}) });
}

function testScripts() {
  return nodeTests(["docs", "js", join("js", "api"), "scripts"]);
}

function testTesting() {
  return nodeTests(["testing"]);
}

/** Runs the tests in these folders of tests/. */
function nodeTests(folders) {
  const paths = folders.flatMap((folder) => {
    const files = readdirSync(inPackage("tests", folder)).filter((name) => name.endsWith(".test.mjs")).sort();
    return files.map((name) => join("tests", folder, name));
  });
  return command(packagedNode(), ["--disable-warning=ExperimentalWarning", "--test", "--test-reporter=spec", `--test-timeout=${TEST_TIMEOUT_MS}`, `--test-concurrency=${WAITING}`, ...paths]);
}

async function checkTypes() {
  const tsc = (project) => command(inNpmPackage("typescript", "bin", "tsc"), ["--project", project]);
  return (await tsc(".")) && (await tsc("js")) && (await tsc("dev")) && (await bindingTypes()) && (await tsc(join("tests", "types")));
}

/** Writes the types of the bindings of tests/types, as the author of a project does. */
async function bindingTypes() {
  const folder = join("tests", "types");
  const { code, output } = await wrangler(["types", `--config=${join(folder, "wrangler.toml")}`, join(folder, "worker-configuration.d.ts")], { quiet: true });
  if (code !== 0) say(output);
  return code === 0;
}

async function buildDefault() {
  built.default = await ensureBuilt("default");
}

/** At the same time: optimizing a module keeps one core busy for minutes. */
async function buildBoth() {
  const builds = await Promise.allSettled([buildDefault(), buildProbes()]);
  // None is left running when another one fails.
  const failed = builds.find(({ status }) => status === "rejected");
  if (failed !== undefined) throw failed.reason;
  joinAgents();
}

/** As the author of a project builds it, in its folder. */
async function buildProbes() {
  const { code } = await run(packagedNode(), [inPackage("scripts", "build.mjs")], { cwd: PROBES });
  if (code !== 0) throw new Stop("The Worker of tests/probes was not built; why is above.");
}

/** Lets the specs give the Worker of tests/probes the agents of tests/agents, one of which is the default agent, and its own. */
function joinAgents() {
  const read = (...parts) => JSON.parse(readFileSync(join(...parts), "utf8"));
  const shared = read(inPackage(outputs.default), TEST_AGENTS);
  const checked = check({ folder: PROBES, joins: true });
  if (checked.agents === undefined) throw new Stop(shownProblems(checked.problems));
  const { agents, remotes } = factsOf(checked.agents);
  const own = agents.map((agent) => ({ ...agent, default: false }));
  const joined = { ...shared, agents: [...shared.agents, ...own], remotes: [...(shared.remotes ?? []), ...remotes] };
  writeFileSync(join(PROBES, outputs.default, TEST_AGENTS), JSON.stringify(joined));
}

/** Builds the native programs, with the same packages and features as the unit tests, so that nothing is compiled twice. */
async function buildNative() {
  return command("cargo", ["build", "--workspace", "--examples", "--features", NATIVE], cargoTerminal());
}

/** The folder of the native programs. */
function examples() {
  return join(process.env.CARGO_TARGET_DIR || inPackage("target"), "debug", "examples");
}

async function findPython() {
  built.python = await ensurePython();
}

/**
 * Makes the agents of the pages, then runs the blocks of the pages against a Worker that serves them. A test makes the agents, with the packages
 * and features of the unit tests, so that nothing is compiled twice.
 */
async function runDocs(filter) {
  // The blocks in TypeScript import them, as those of a project do.
  writeAgents();
  const agents = join(scratchFolder(), "agents.json");
  if (!(await command("cargo", ["test", "--quiet", "--workspace", "--features", NATIVE, "--test", "all", "docs::"], { ...cargoTerminal(), A2A_DOCS_AGENTS: agents }))) return false;
  const options = ["--test", "--test-force-exit", "--test-reporter=spec", `--test-timeout=${TEST_TIMEOUT_MS}`];
  const named = filter ? [`--test-name-pattern=${filter}`] : [];
  return command(packagedNode(), ["--disable-warning=ExperimentalWarning", ...options, ...named, join("tests", "docs", "blocks.spec.ts"), join("tests", "docs", "typescript.spec.ts")], {
    A2A_DOCS_AGENTS: agents, A2A_EXAMPLES: examples(), ...built.python,
  });
}

/** Runs the specs of tests/e2e against what is deployed; without a filter `only` those, if they are named. */
async function endToEnd(filter, only) {
  say(`    ${outputs.default} (${built.default})`);
  const specs = specsIn("e2e");
  const usual = only && specs.filter((path) => only.includes(basename(path, SPEC)));
  if (filter && isElsewhere(filter, specs)) return true;
  return runSpecs(specs, filter, { usual, concurrency: WAITING, env: { A2A_BUILD_DIR: outputs.default, A2A_EXAMPLES: examples(), ...built.python } });
}

/** Runs the specs of what is read from the index, with the index in objects. */
async function testObjects(filter) {
  const specs = specsIn("e2e");
  if (filter && isElsewhere(filter, specs)) return true;
  const usual = specs.filter((path) => INDEX_SPECS.includes(basename(path, SPEC)));
  return runSpecs(specs, filter, { usual, concurrency: WAITING, env: { A2A_BUILD_DIR: outputs.default, A2A_EXAMPLES: examples(), A2A_INDEX: "objects", ...built.python } });
}

/** Runs the specs of tests/probes, and without a filter of tests/e2e those of `PROBES_SPECS`, against the Worker of tests/probes. */
async function testProbes(filter) {
  const [own, shared] = [specsIn("probes"), specsIn("e2e")];
  const usual = [...shared.filter((path) => PROBES_SPECS.includes(basename(path, SPEC))), ...own];
  const env = { A2A_BUILD_DIR: relative(packageDir, join(PROBES, outputs.default)), A2A_EXAMPLES: examples(), ...built.python };
  return runSpecs([...shared, ...own], filter, { usual, concurrency: WAITING, env });
}

/** Whether a filter names files of the other Worker's specs alone, and no title then. */
function isElsewhere(filter, specs) {
  const names = (path) => basename(path).includes(filter);
  if (specs.some(names) || !specsIn("probes").some(names)) return false;
  say(`    nothing to do: the specs with "${filter}" in their name are those of tests/probes`);
  return true;
}

/** The paths of the spec files of a folder of tests/. */
function specsIn(folder) {
  return readdirSync(inPackage("tests", folder)).filter((name) => name.endsWith(SPEC)).sort().map((name) => join("tests", folder, name));
}

async function testConsole(filter) {
  for (const project of ["console", join("tests", "console"), join("tests", "browser")]) {
    if (!(await command(inNpmPackage("typescript", "bin", "tsc"), ["--project", project]))) return false;
  }
  const units = readdirSync(inPackage("tests", "console")).filter((name) => name.endsWith(".test.ts")).sort();
  const args = ["--disable-warning=ExperimentalWarning", "--test", "--test-reporter=dot", `--test-timeout=${TEST_TIMEOUT_MS}`];
  const files = units.map((name) => join("tests", "console", name));
  if (files.length > 0 && !filter && !(await command(packagedNode(), [...args, ...files]))) return false;
  if (!printConsoleSize()) return false;
  rmSync(inPackage("build", "screenshots", "failed"), { recursive: true, force: true });
  // A browser has several processes, and two browsers keep a small machine busy.
  return runSpecs(specsIn("browser"), filter, { concurrency: 2, env: { A2A_BUILD_DIR: outputs.default } });
}

/**
 * Runs the spec files of a folder of tests/: those that match the filter by name, or else those with a test that matches it; without a filter the
 * `usual` ones, or all. Then searches the logs of their Workers for secrets.
 */
async function runSpecs(specs, filter, { usual = specs, concurrency, env }) {
  const named = filter ? specs.filter((path) => basename(path).includes(filter)) : usual;
  const pattern = named.length === 0 ? [`--test-name-pattern=${filter}`] : [];
  const files = named.length === 0 ? specs : named;
  const times = join(scratchFolder(), "times");
  const options = (atOnce) => [
    "--test",
    "--test-force-exit",
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    `--test-reporter=${inPackage("scripts", "lib", "spec-times.mjs")}`,
    `--test-reporter-destination=${times}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    `--test-concurrency=${atOnce}`,
  ];
  const runFolder = mkdtempSync(join(tmpdir(), "a2a-edge-run-"));
  const isAlone = (path) => COUNTING_SPECS.includes(basename(path, SPEC));
  const lines = [];
  let passed = true;
  for (const [together, some] of [[concurrency, files.filter((path) => !isAlone(path))], [1, files.filter(isAlone)]]) {
    if (some.length === 0) continue;
    const isPassed = await command(packagedNode(), ["--disable-warning=ExperimentalWarning", ...options(together), ...pattern, ...some], {
      A2A_RUN_FOLDER: runFolder, ...env, ...(process.stdout.isTTY ? { FORCE_COLOR: "1" } : {}),
    });
    passed &&= isPassed;
    lines.push(...(existsSync(times) ? readFileSync(times, "utf8").trim().split("\n").filter(Boolean) : []));
  }
  const taken = lines.map((line) => ({ ms: parseInt(line, 10), name: basename(line, SPEC) }));
  if (taken.length > 1) say(`    the slowest of ${taken.length} files: ${longest(taken)}`);
  const { lines: logged, secrets, leaks } = findLeaks(runFolder);
  rmSync(runFolder, { recursive: true, force: true });
  say(`    ${logged} lines of log hold ${leaks.length === 0 ? "none" : leaks.join(", ")} of ${secrets} secrets`);
  return passed && leaks.length === 0;
}
