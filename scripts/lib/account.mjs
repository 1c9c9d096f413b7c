// What an account at Cloudflare has of a deployment, asked of wrangler. Nothing is made or changed there.
import { eachOf } from "../operate/server.mjs";
import { readMark } from "./forms.mjs";
import { jsonIn, wrangler } from "./wrangler.mjs";

const TIMEOUT_MS = 60_000;

/** What wrangler says of a Worker that does not exist. */
const NO_WORKER = /does not exist|code: 10007\b/;

/** Asks wrangler; the output is not shown. */
const ask = (...args) => wrangler(args, { quiet: true, timeoutMs: TIMEOUT_MS });

/**
 * The login: `{ accounts: [{ name, id }], email }`, without accounts where wrangler does not tell them; undefined if there is none. Without credentials
 * wrangler asks nobody.
 */
export async function loginOf() {
  const { output } = await ask("whoami", "--json");
  const told = jsonIn(output) ?? {};
  if (told.loggedIn === false) return undefined;
  return { accounts: Array.isArray(told.accounts) ? told.accounts : [], email: told.email };
}

/**
 * What the account has: `queues`, those of the names that are there; `database`, "there", "absent" or "unknown"; `applied`, the migrations of the database,
 * undefined where they are not known; `secrets`, names, or undefined; `deployments` and `versions`, as the functions with these names tell them.
 * `environment` is the option for wrangler.
 */
export async function accountOf({ queues, databases = [], environment }) {
  const asked = [
    ...[...queues].map((name) => async () => ((await ask("queues", "info", name, ...environment)).code === 0 ? name : undefined)),
    () => databaseOf(databases.find(({ binding }) => binding === "DB"), environment),
    () => secretsOf(environment),
    () => deploymentsOf(environment),
    () => versionsOf(environment),
  ];
  const told = await eachOf(asked, (one) => one());
  const [database, secrets, deployments, versions] = told.slice(queues.size);
  return { queues: new Set(told.slice(0, queues.size).filter(Boolean)), ...database, secrets, deployments, versions };
}

/** What a new account has, in the form of `accountOf`. */
export const EMPTY = { queues: new Set(), database: "absent", applied: [], secrets: [], deployments: [], versions: [] };

/** The database and its migrations. `d1 migrations list` would make the table of migrations where it is missing; a SELECT changes nothing. */
async function databaseOf({ migrations_table: table = "d1_migrations" } = {}, environment) {
  const { code, output } = await ask("d1", "execute", "DB", "--remote", "--json", `--command=SELECT name FROM ${table}`, ...environment);
  if (code === 0) {
    const rows = jsonIn(output)?.[0]?.results;
    if (Array.isArray(rows)) return { database: "there", applied: rows.map(({ name }) => name) };
  }
  if (/Couldn't find a D1 DB/.test(output)) return { database: "absent", applied: [] };
  if (/no such table/.test(output)) return { database: "there", applied: [] };
  return { database: "unknown", applied: undefined };
}

/** The names of the Worker's secrets; none if the Worker does not exist; undefined if they cannot be listed. */
export async function secretsOf(environment) {
  const { code, output } = await ask("secret", "list", "--format=json", ...environment);
  const listed = code === 0 ? jsonIn(output) : undefined;
  if (Array.isArray(listed)) return listed.map(({ name }) => name);
  return NO_WORKER.test(output) ? [] : undefined;
}

/** The newest deployments of the Worker, newest first, as wrangler tells them; none if the Worker does not exist; undefined if that is not known. */
export async function deploymentsOf(environment) {
  const { code, output } = await ask("deployments", "list", "--json", ...environment);
  const listed = code === 0 ? jsonIn(output) : undefined;
  if (Array.isArray(listed)) return [...listed].sort((one, other) => compare(other.created_on, one.created_on));
  return NO_WORKER.test(output) ? [] : undefined;
}

/** The newest versions of the Worker, newest first: `{ id, number, created, message, trigger, mark }`; undefined if wrangler does not tell them. */
export async function versionsOf(environment) {
  const { code, output } = await ask("versions", "list", "--json", ...environment);
  const listed = code === 0 ? jsonIn(output) : undefined;
  if (!Array.isArray(listed)) return undefined;
  const versions = listed.map(({ id, number, metadata, annotations }) => {
    const [message, trigger] = [annotations?.["workers/message"], annotations?.["workers/triggered_by"]];
    return { id, number, created: metadata?.created_on, message, trigger, mark: readMark(message) };
  });
  versions.sort((one, other) => compare(other.created, one.created));
  // A change of a secret makes a version of its own, with the code of the one before and without its message.
  for (const [at, version] of [...versions.entries()].reverse()) {
    if (version.mark === undefined && version.trigger === "secret") version.mark = versions[at + 1]?.mark;
  }
  return versions;
}

const compare = (one, other) => String(one).localeCompare(String(other));
