// `npx a2a-edge test`: runs the tests of a project, first those in Rust, if it has Rust, then those that call its Worker.
import "./lib/node-version.mjs";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import util from "node:util";
import { command } from "./lib/command.mjs";
import { stopIfUnusable } from "./lib/dev-agents.mjs";
import { readOptions } from "./lib/options.mjs";
import { OTHERS, OTHERS_HELP, startOthers } from "./lib/others.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { hasRust, inPackage, inProject, projectDir } from "./lib/paths.mjs";
import { cargoTerminal, environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { serveWhile } from "./lib/serve.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { checkTypes, hasTypeScript } from "./lib/types.mjs";
import { Stop, main, say, seconds } from "./lib/ui.mjs";
import { ensureLocalMigrations } from "./lib/wrangler.mjs";

const TEST_TIMEOUT_MS = 120_000;

const usage = `Usage: ${command("test", "[--with FOLDER]...")}

Checks the agents; with Rust, compiles the engine and runs cargo test; with TypeScript among its packages, checks the types
of the sources. Then the Worker is served with an empty database: it must be able to serve all agents, and the files
tests/*.test.mjs, .js and .ts are run with the test runner of Node. For these its URL is in the environment as A2A_EDGE_URL.
Secrets and variables stand in tests/test.vars, a NAME=value on each line; they go before those of .dev.vars. The exit code
is 1 if something failed.

${OTHERS_HELP}
    -h, --help             this text`;

await main(async () => {
  const { values } = readOptions({ usage, options: OTHERS });
  const begun = Date.now();
  await setUpAndBuild();
  await testTypes();
  if (hasRust) await testRust();
  const endOthers = await startOthers(values.with ?? [], () => scratchFolder());
  const folder = inProject("tests");
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /\.test\.(?:mjs|js|ts)$/.test(name)).sort() : [];
  await testWorker(files.map((name) => join("tests", name)));
  await endOthers();
  say(`\nAll tests passed after ${seconds(begun)}.`);
});

async function testTypes() {
  if (!hasTypeScript()) return;
  say("\n==> Types (tsc)");
  const found = await checkTypes();
  if (found !== "") throw new Stop(`${found}\n\nThe types do not fit; what tsc says is above.`);
}

async function testRust() {
  say("\n==> cargo test");
  const { code } = await run("cargo", ["test"], { cwd: projectDir, env: environment(cargoTerminal()) });
  if (code !== 0) throw new Stop("cargo test failed; its messages are above.");
}

async function testWorker(files) {
  say("\n==> Tests of the Worker");
  const state = scratchFolder();
  await ensureLocalMigrations(state);
  const served = async (url, token) => {
    await stopIfUnusable(url, token);
    if (files.length === 0) return say("There are no tests of the Worker: no file tests/*.test.mjs.");
    // Modules of the platform, which sources may import, have stand-ins in Node.
    const args = [`--import=${pathToFileURL(inPackage("js", "testing", "hooks.js"))}`, "--experimental-strip-types", "--disable-warning=ExperimentalWarning", "--test", "--test-reporter=spec", `--test-timeout=${TEST_TIMEOUT_MS}`, ...files];
    const { code } = await run(packagedNode(), args, { cwd: projectDir, env: environment({ A2A_EDGE_URL: url }) });
    if (code !== 0) throw new Stop("Tests of the Worker failed, see above.");
  };
  await serveWhile(state, served, { vars: testVariables() });
}

/** The secrets and variables of tests/test.vars, if the project has such a file. */
function testVariables() {
  const file = inProject("tests", "test.vars");
  if (!existsSync(file)) return {};
  return util.parseEnv(readFileSync(file, "utf8"));
}
