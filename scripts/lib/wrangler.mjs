// Runs wrangler: on the packaged Node, without questions and without telemetry.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { inNpmPackage, packageVersion, packagedNode } from "./packages.mjs";
import { inPackage, inProject, projectDir, stateDir } from "./paths.mjs";
import { environment, run } from "./process.mjs";
import { Stop, step } from "./ui.mjs";

/** The command line that starts wrangler with these arguments. */
export function wranglerCommand(...args) {
  return [packagedNode(), ["--no-warnings", inNpmPackage("wrangler", "wrangler-dist", "cli.js"), ...args]];
}

/** The environment of wrangler. With `built`, the build command of wrangler.toml does nothing. */
export function wranglerEnvironment({ built = true, ...extra } = {}) {
  return environment({
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_WRITE_LOGS: "false",
    X_LOCAL_EXPLORER: "false",
    X_LOCAL_OBSERVABILITY: "false",
    ...(process.stdout.isTTY ? { FORCE_COLOR: "1" } : {}),
    ...(built ? { A2A_EDGE_BUILT: "1" } : {}),
    ...extra,
  });
}

/** Runs wrangler to its end; takes and returns the same as `run`. */
export function wrangler(args, { quiet = false, timeoutMs, input } = {}) {
  return run(...wranglerCommand(...args), { cwd: projectDir, env: wranglerEnvironment(), quiet, timeoutMs, input });
}

/** The JSON in an output of wrangler, which may have lines of other text around it; undefined if there is none. */
export function jsonIn(output) {
  const begins = /^[ \t]*[[{]/m.exec(output)?.index ?? 0;
  try {
    return JSON.parse(output.slice(begins, Math.max(output.lastIndexOf("]"), output.lastIndexOf("}")) + 1));
  } catch {
    return undefined;
  }
}

/**
 * wrangler.toml as parsed by wrangler, for one of its environments. Parsing takes wrangler a second, so what it found is kept beside the local state
 * until the file or wrangler changes.
 */
export async function readConfig(environment) {
  const before = keptConfig(environment);
  if (before !== undefined) return before;
  const of = hashOfConfig();
  const config = await parseConfig(environment);
  mkdirSync(inProject(".wrangler"), { recursive: true });
  writeFileSync(keptFile(environment), JSON.stringify({ of, config }));
  return config;
}

/** As `readConfig`, for what is done at Cloudflare; throws a `Stop` if the file or the environment is missing. */
export async function environmentConfig(environment) {
  if (!existsSync(inProject("wrangler.toml"))) throw new Stop(`There is no wrangler.toml in ${projectDir}; run the command in the folder of a project.`);
  const config = await readConfig(environment);
  const { targetEnvironment, definedEnvironments } = config;
  // Without this check, wrangler would use the top level of a file without environments under another name.
  if (targetEnvironment && !definedEnvironments.includes(targetEnvironment)) {
    throw new Stop(`wrangler.toml has no environment "${targetEnvironment}"; it would begin with [env.${targetEnvironment}].`);
  }
  return config;
}

/** What `readConfig` has kept of an environment; undefined if there is none, or wrangler.toml has changed since. */
export function keptConfig(environment) {
  try {
    const { of, config } = JSON.parse(readFileSync(keptFile(environment), "utf8"));
    return of === hashOfConfig() ? config : undefined;
  } catch {
    // There is none yet, or another command is just writing it.
    return undefined;
  }
}

const keptFile = (environment) => inProject(".wrangler", `config${environment === undefined ? "" : `-${environment}`}.json`);

const hashOfConfig = () => createHash("sha256").update(JSON.stringify([readFileSync(inProject("wrangler.toml"), "utf8"), projectDir, packageVersion("wrangler")])).digest("hex");

/** Parses a file of settings, by default that of the project; throws a `Stop` with what wrangler says. */
export async function parseConfig(environment, file = inProject("wrangler.toml")) {
  const script =
    "const [wrangler, config, env] = process.argv.slice(1);" +
    "const { unstable_readConfig: read } = require(wrangler);" +
    "try { process.stdout.write(JSON.stringify(read({ config, env }, { hideWarnings: true }))) }" +
    "catch (error) { process.stdout.write(error.message); process.exitCode = 1 }";
  const args = ["--no-warnings", "-e", script, inNpmPackage("wrangler"), file, ...(environment === undefined ? [] : [environment])];
  const { code, output } = await run(packagedNode(), args, { cwd: projectDir, env: wranglerEnvironment(), quiet: true });
  if (code !== 0) throw new Stop(`wrangler.toml cannot be used:\n\n${output.trim()}`);
  return JSON.parse(output);
}

/** The migrations of the database, in order. They are part of the package, even if a project names their folder. */
export function migrations() {
  return readdirSync(inPackage("migrations")).filter((name) => name.endsWith(".sql")).sort();
}

/** The migrations that the local database of a state lacks; none if there is no database yet, since the first start makes it whole. */
export function pendingMigrations(state = stateDir) {
  const { databases, isPrepared } = preparation(state);
  if (isPrepared) return [];
  const stored = storedIn(databases);
  // A database contains the names of its migrations as text.
  return stored.length === 0 ? [] : migrations().filter((name) => !stored.some((database) => database.includes(name)));
}

/**
 * Ends the command if the local state belongs to a version before 0.3.0, whose forms are not read any more. Databases and objects are searched only
 * if the stamp of the databases differs from that of the current migrations. The objects may be there without the databases.
 */
export function checkLocalState(state = stateDir) {
  const { databases, objects, isPrepared } = preparation(state);
  if (isPrepared) return;
  const isOfBefore = storedIn(databases).some((stored) => stored.includes(FIRST_BEFORE_0_3_0)) || storedIn(objects).some(isLogOfBefore);
  if (!isOfBefore) return;
  const folder = relative(projectDir, resolve(projectDir, state)) || ".";
  throw new Stop(`The local state in ${folder} is of a version before 0.3.0, which this version cannot read. Move it away, and start again:\n\n    mv ${folder} ${folder}-before-0.3.0`);
}

/** The first migration of the versions before 0.3.0. The databases of these versions contain its name as text. */
const FIRST_BEFORE_0_3_0 = "0001_counters.sql";

/** The contents of the SQLite files in a folder and its folders, each with its write-ahead log; none if there is no folder. */
function storedIn(folder) {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true }).filter((name) => /\.sqlite(-wal)?$/.test(name)) : [];
  return [...new Set(names.map((name) => name.replace(/-wal$/, "")))].map((name) =>
    Buffer.concat([name, `${name}-wal`].map((part) => join(folder, part)).filter(existsSync).map((path) => readFileSync(path))));
}

/** True for an object whose table has the form of a version before 0.3.0. A database contains the statements that made its tables as text. */
const isLogOfBefore = (stored) => stored.includes("CREATE TABLE log (") && !stored.includes(COLUMN_SINCE_0_3_0);

/** The column of the table in src/edge/object/store/log.rs that the versions before 0.3.0 lack, or may leave empty. */
export const COLUMN_SINCE_0_3_0 = "times TEXT NOT NULL";

/** Migrates the local D1 database in the folder `state`, if a migration or the state is new. */
export async function ensureLocalMigrations(state = stateDir) {
  const { databases, stamp, wanted, isPrepared } = preparation(state);
  if (isPrepared) return;
  await step("Preparing the local database", async () => {
    const { code, output } = await wrangler(["d1", "migrations", "apply", "DB", "--local", `--persist-to=${state}`], { quiet: true });
    if (code !== 0) throw new Stop(`The migrations could not be applied to the local database:\n\n${output.trim()}`);
  });
  mkdirSync(databases, { recursive: true });
  writeFileSync(stamp, wanted);
}

/** The places of the local databases and objects of a state, and if the databases have the current migrations. */
function preparation(state) {
  const config = inProject("wrangler.toml");
  const hash = createHash("sha256").update(existsSync(config) ? readFileSync(config) : "");
  for (const name of migrations()) hash.update(`\0${name}\0`).update(readFileSync(inPackage("migrations", name)));
  const wanted = hash.digest("hex");
  // The stamp is next to the databases, so that it is deleted together with them.
  const [databases, objects] = ["d1", "do"].map((kind) => join(resolve(projectDir, state), "v3", kind));
  const stamp = join(databases, "migrations.sha256");
  return { databases, objects, stamp, wanted, isPrepared: existsSync(stamp) && readFileSync(stamp, "utf8") === wanted };
}
