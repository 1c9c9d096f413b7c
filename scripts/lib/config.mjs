// Checks that wrangler.toml has everything that the Worker needs, and lists the missing lines.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { ASSETS } from "./assets.mjs";
import { OWN_ENGINE } from "./engine.mjs";
import { hasRust, inPackage, inProject, packageDir, projectDir } from "./paths.mjs";
import { Stop } from "./ui.mjs";
import { migrations, readConfig } from "./wrangler.mjs";

/** Stops with the missing lines, ready to paste, if wrangler.toml lacks something in one of its environments, or the entry is not there. */
export async function checkConfig(environment) {
  const file = inProject("wrangler.toml");
  if (!existsSync(file)) throw new Stop(`There is no wrangler.toml in ${projectDir}. It needs at least this:${written(missing({}))}`);
  const config = await readConfig(environment);
  const found = missing(config, { text: readFileSync(file, "utf8"), environment });
  if (found.length > 0) throw new Stop(`wrangler.toml lacks what a2a-edge needs.${written(found)}`);
  checkEntry(config.main);
}

/** Stops if the entry of the Worker, or the name under which it imports the agents, is missing. */
function checkEntry(main) {
  if (!existsSync(main)) throw new Stop(`The entry of the Worker is missing: ${relative(projectDir, main)}, that wrangler.toml names as main. It needs at least this:\n\n${indented(ENTRY)}`);
  const manifest = inProject("package.json");
  const { imports = {} } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")) : {};
  if ((imports["#agents"]?.default ?? imports["#agents"]) !== AGENTS) throw new Stop(`package.json lacks the name under which ${relative(projectDir, main)} imports the agents. Add:\n\n    "imports": { "#agents": "${AGENTS}" }`);
}

/** The generated module of the agents, as package.json names it. */
export const AGENTS = "./.a2a-edge/agents.js";

/** The entry of a Worker without code of its own. */
export const ENTRY = `import agents from "#agents";
import { TaskObject, worker } from "a2a-edge";

export { TaskObject };
export default worker({ agents });`;

const indented = (text) => text.replace(/^(?=.)/gm, "    ");

/**
 * The missing parts of a configuration, as `{ place, lines, edit }` in the order in which to add them; `edit` says the same as `place`, the text for
 * people, for `upgrade` (toml-lines.mjs). `config` is the parsed configuration, or `{}` for a missing file; `text` the text of the file; `environment`
 * the name of the environment.
 */
export function missing(config, { text = "", environment } = {}) {
  const found = [];
  const at = ({ title, ...edit }, ...lines) => found.push({ place: title, lines, edit });
  // wrangler accepts lower case, digits and dashes.
  const name = config.name ?? (basename(projectDir).toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "agents");
  topLevel(config, at, name);
  tables(config, at, text);
  // An environment does not inherit bindings.
  bindings(config, at, { name, prefix: environment === undefined ? "" : `env.${environment}.` });
  return found;
}

const TOP = { title: "Before the first table:", table: "" };
const END = { title: "At the end:", isNew: true };
const REPLACE = { title: "In place of the line with the same key:", table: "" };
const REMOVE = { title: "Without this line:", table: "", removes: true };
const under = (table, whose) => ({ title: `Under ${table}${whose === undefined ? "" : ` with ${whose}`}:`, table, whose });
/** A replacement of a line with another key, which only its author can decide. */
const inPlaceOf = (what) => ({ title: `In place of ${what}:` });

/** The text of the findings, grouped by place. */
function written(found) {
  const places = [...new Set(found.map(({ place }) => place))];
  const first = [TOP, REPLACE, REMOVE].map(({ title }) => title);
  const rank = (place) => (first.includes(place) ? 0 : place === END.title ? 2 : 1);
  const block = (place) => {
    const parts = found.filter((one) => one.place === place).map(({ lines }) => lines);
    const isTable = parts.some(([first]) => first.startsWith("["));
    const text = parts.map((lines) => lines.map((line) => `    ${line}`).join("\n")).join(isTable ? "\n\n" : "\n");
    return `\n\n${place}\n\n${text}`;
  };
  return places.sort((a, b) => rank(a) - rank(b)).map(block).join("");
}

function topLevel(config, at, name) {
  const key = (isPresent, line) => at(isPresent ? REPLACE : TOP, line);
  if (config.name === undefined) key(false, `name = "${name}"`);
  if (config.main === undefined || config.main === inProject("build", "index.js")) key(config.main !== undefined, 'main = "src/index.ts"');
  const { compatibility_date: date, compatibility_flags: flags = [] } = config;
  if (date === undefined || date < COMPATIBILITY_DATE) key(date !== undefined, `compatibility_date = "${COMPATIBILITY_DATE}"`);
  if (!flags.includes(QUEUE_FLAG)) key(flags.length > 0, `compatibility_flags = ${JSON.stringify([...flags, QUEUE_FLAG])}`);
  if (config.no_bundle === true) at(REMOVE, "no_bundle = true");
}

function tables(config, at, text) {
  const table = (header, ...lines) => {
    const exists = text.split(/\r?\n/).some((line) => line.replace(/\s|#.*/g, "") === `[${header}]`);
    if (exists) at(under(`[${header}]`), ...lines);
    else at(END, `[${header}]`, ...lines);
  };
  if (!/\ba2a-edge build\b|scripts\/build\.mjs/.test(config.build?.command ?? "")) {
    table("build", 'command = "a2a-edge build"');
  }
  if (hasRust && config.alias?.["a2a-edge/engine"] !== OWN_ENGINE) table("alias", `"a2a-edge/engine" = "${OWN_ENGINE}"`);
  const assets = config.assets?.directory;
  // Versions before 0.4.0 built the console in the project, where an old one may be left.
  const isOurs = assets !== undefined && inProject(assets) === inPackage(ASSETS);
  if (assets !== undefined && !isOurs && (!existsSync(inProject(assets)) || inProject(assets) === inProject(ASSETS))) {
    at({ ...under("[assets]"), ...inPlaceOf("directory under [assets]") }, `directory = "${packaged(ASSETS)}"`);
  }
  if (!(config.triggers?.crons?.length > 0)) table("triggers", 'crons = ["17 * * * *"]');
  const steps = config.migrations ?? [];
  if (steps.some((step) => step.new_classes?.includes("TaskObject"))) {
    at(inPlaceOf('new_classes with "TaskObject"'), 'new_sqlite_classes = ["TaskObject"]');
  } else if (!steps.some((step) => step.new_sqlite_classes?.includes("TaskObject"))) {
    const tags = new Set(steps.map(({ tag }) => tag));
    const number = [...steps.keys(), steps.length].find((index) => !tags.has(`v${index + 1}`));
    at(END, "[[migrations]]", `tag = "v${number + 1}"`, 'new_sqlite_classes = ["TaskObject"]');
  }
}

function bindings(config, at, { name, prefix }) {
  const array = (header, ...lines) => at(END, `[[${prefix}${header}]]`, ...lines);
  const within = (header, key, value, ...lines) => at(under(`[[${prefix}${header}]]`, `${key} = "${value}"`), ...lines);

  const tasks = config.durable_objects?.bindings?.find((one) => one.name === "TASKS");
  if (tasks === undefined) array("durable_objects.bindings", 'name = "TASKS"', 'class_name = "TaskObject"');
  else if (tasks.class_name !== "TaskObject") within("durable_objects.bindings", "name", "TASKS", 'class_name = "TaskObject"');

  const database = config.d1_databases?.find(({ binding }) => binding === "DB");
  const folder = `migrations_dir = "${packaged("migrations")}"`;
  if (database === undefined) array("d1_databases", 'binding = "DB"', `database_name = "${name}"`, folder);
  else if (!hasMigrations(database.migrations_dir)) within("d1_databases", "binding", "DB", folder);

  const queue = (binding, fallback) => {
    const producer = config.queues?.producers?.find((one) => one.binding === binding);
    if (producer === undefined) array("queues.producers", `binding = "${binding}"`, `queue = "${fallback}"`);
    return producer?.queue ?? fallback;
  };
  const webhooks = queue("WEBHOOKS", `${name}-webhooks`);
  const consumer = (wanted) => config.queues?.consumers?.find((one) => one.queue === wanted);
  const dead = queue("DEAD_LETTERS", consumer(webhooks)?.dead_letter_queue ?? `${webhooks}-dead`);
  const deadLetters = `dead_letter_queue = "${dead}"`;
  if (consumer(webhooks) === undefined) {
    array("queues.consumers", `queue = "${webhooks}"`, "max_batch_size = 6", "max_batch_timeout = 0", "max_retries = 5", deadLetters);
  } else if (consumer(webhooks).dead_letter_queue !== dead) {
    within("queues.consumers", "queue", webhooks, deadLetters);
  }
  if (consumer(dead) === undefined) {
    array("queues.consumers", `queue = "${dead}"`, "max_batch_size = 10", "max_batch_timeout = 1", "max_retries = 3");
  }
  const deletions = queue("DELETIONS", `${name}-deletions`);
  if (consumer(deletions) === undefined) {
    array("queues.consumers", `queue = "${deletions}"`, "max_batch_size = 6", "max_batch_timeout = 0", "max_retries = 3");
  }
}

/** A folder of the package for wrangler.toml: through node_modules if npm has installed the package there. */
function packaged(path) {
  const installed = inProject("node_modules", "a2a-edge");
  const isOurs = existsSync(installed) && realpathSync(installed) === packageDir;
  return isOurs ? `node_modules/a2a-edge/${path}` : relative(projectDir, inPackage(path)) || ".";
}

/** True if a folder of the project has all migrations of the package. */
function hasMigrations(folder = "migrations") {
  return migrations().every((name) => {
    const path = join(inProject(folder), name);
    return existsSync(path) && readFileSync(path).equals(readFileSync(inPackage("migrations", name)));
  });
}

/**
 * The compatibility date: from this day on, open requests keep a Durable Object alive. The tests ran with the changes
 * up to this day.
 */
const COMPATIBILITY_DATE = "2026-11-17";

/**
 * With this flag, a batch of the queue is over when its notifications are being sent, not when their receivers have
 * answered.
 */
const QUEUE_FLAG = "queue_consumer_no_wait_for_wait_until";
