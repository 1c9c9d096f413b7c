// `npm test`: sets everything up, then runs every check. The steps are listed below, in their order.
import "./lib/node-version.mjs";
import { readdirSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { ensurePython } from "./lib/python.mjs";
import { binDir, inRoot, root } from "./lib/paths.mjs";
import { cargoTerminal, environment, run } from "./lib/process.mjs";
import { ensureComponents, ensureWasmTarget } from "./lib/rust.mjs";
import { setUp } from "./lib/setup.mjs";
import { printSize } from "./lib/size.mjs";
import { Stop, main, say, seconds } from "./lib/ui.mjs";
import { ensureBuilt, outputs } from "./lib/worker.mjs";

const TEST_TIMEOUT_MS = 120_000;

/** What `build` made, for the steps that need it. */
const built = {};

const steps = [
  { name: "format", title: "Format (cargo fmt --check)", work: () => cargo("fmt", "--check") },
  { name: "lint-host", title: "Lint, host (cargo clippy)", work: () => cargo("clippy", "--workspace", "--all-targets", "--", "-D", "warnings") },
  {
    name: "lint-wasm",
    title: "Lint, WebAssembly (cargo clippy)",
    work: () => cargo("clippy", "--lib", "--target", "wasm32-unknown-unknown", "--", "-D", "warnings"),
  },
  { name: "docs", title: "Docs (cargo doc)", work: () => cargo("doc", "--workspace", "--no-deps") },
  { name: "unit", title: "Unit and property tests (cargo test)", work: () => cargo("test", "--workspace") },
  { name: "scripts", title: "Tests of the npm scripts (node --test)", work: testScripts },
  { name: "types", title: "Types of the end-to-end tests (tsc)", work: () => command(join(binDir, "tsc"), ["--project", "."]) },
  { name: "build", title: "Builds of the Worker", work: buildBoth },
  { name: "size", title: "Size of the upload", needs: ["build"], work: () => printSize("default") },
  { name: "python", title: "Python SDK for the end-to-end tests", work: findPython },
  { name: "e2e-default", title: "End-to-end tests of what is deployed", needs: ["build", "python"], work: (filter) => endToEnd("default", filter) },
  { name: "e2e-stable", title: "End-to-end tests of the stable build", needs: ["build", "python"], work: (filter) => endToEnd("stable", filter) },
];

const usage = `Usage: npm test [-- STEP...] [--only STEP,STEP]

Without a step, all of them run, in this order:

${steps.map(({ name, title }) => `    ${name.padEnd(12)} ${title}`).join("\n")}

"lint" means both lints, "e2e" both end-to-end runs. "e2e:card" runs the spec files with "card" in their name or,
if there is none, the tests with "card" in their title; so does "e2e-default:card" with one build only.

    --only STEP,STEP   the same as naming the steps
    -h, --help         this text

A2A_LOGS=1 in the environment shows what the Worker logs during the end-to-end tests.
A2A_EDGE_STABLE=1 leaves the panic-unwind build out.`;

await main(async () => {
  const chosen = choose();
  await setUp();
  await ensureComponents([["rustfmt", "fmt"], ["clippy", "clippy"]]);
  await ensureWasmTarget();

  const results = [];
  for (const { step, filter } of chosen) results.push({ name: step.name, outcome: await perform(step, filter, results) });

  const failed = results.filter(({ outcome }) => outcome !== "passed");
  say(`\n${results.length - failed.length} of ${results.length} steps passed`);
  for (const { name, outcome } of failed) say(`    ${name}: ${outcome}`);
  if (failed.length > 0) process.exit(1);
});

/** The steps that the arguments select, each with its filter; what a step needs comes along. */
function choose() {
  const { values, positionals, refuse } = readOptions({ usage, options: { only: { type: "string", multiple: true } }, positionals: true });
  const selectors = [...positionals, ...(values.only || [])].flatMap((given) => given.split(",")).filter(Boolean);
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
    if (!(error instanceof Stop)) throw error;
    say(`\n${error.message}\n`);
    passed = false;
  }
  say(`    ${passed ? "passed" : "FAILED"} after ${seconds(begun)}`);
  return passed ? "passed" : "failed";
}

async function command(program, args, env = {}) {
  const { code } = await run(program, args, { cwd: root, env: environment(env) });
  return code === 0;
}

function cargo(...args) {
  return command("cargo", args, { ...cargoTerminal(), ...(args[0] === "doc" ? { RUSTDOCFLAGS: "-D warnings" } : {}) });
}

function testScripts() {
  const files = readdirSync(inRoot("tests", "scripts")).filter((name) => name.endsWith(".test.mjs")).sort();
  const paths = files.map((name) => join("tests", "scripts", name));
  return command(packagedNode(), ["--disable-warning=ExperimentalWarning", "--test", "--test-reporter=spec", `--test-timeout=${TEST_TIMEOUT_MS}`, ...paths]);
}

async function buildBoth() {
  built.default = await ensureBuilt("default");
  if (built.default !== "stable") built.stable = await ensureBuilt("stable");
}

async function findPython() {
  built.python = await ensurePython();
}

function endToEnd(output, filter) {
  if (built[output] === undefined) {
    say("    nothing to do: the stable build is what is deployed");
    return true;
  }
  const specs = readdirSync(inRoot("tests", "e2e")).filter((name) => name.endsWith(".spec.ts")).sort();
  const named = filter ? specs.filter((name) => name.includes(filter)) : specs;
  const pattern = filter && named.length === 0 ? [`--test-name-pattern=${filter}`] : [];
  const files = (named.length > 0 ? named : specs).map((name) => join("tests", "e2e", name));
  say(`    ${outputs[output]} (${built[output]})`);
  const options = [
    "--test",
    "--test-force-exit",
    "--test-reporter=spec",
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    // The tests wait more than they compute, so two files at once pay off even on a small machine.
    `--test-concurrency=${Math.max(2, cpus().length - 1)}`,
  ];
  return command(packagedNode(), ["--disable-warning=ExperimentalWarning", ...options, ...pattern, ...files], {
    A2A_BUILD_DIR: outputs[output], ...(built.python ? { A2A_PYTHON: built.python } : {}),
    ...(process.stdout.isTTY ? { FORCE_COLOR: "1" } : {}),
  });
}
