// What a deployment will do, as one text: `deploy` prints it before anything is made in the account.
import { remoteAccess } from "./access.mjs";
import { localAddresses } from "./local-addresses.mjs";
import { missingText } from "./needs.mjs";
import { deployedBefore, missingServices } from "./services.mjs";
import { kilobytes } from "./size.mjs";
import { VERSION } from "./upgrade.mjs";
import { migrations } from "./wrangler.mjs";

/** The largest upload after compression in bytes, by plan. */
export const LIMITS = { free: 3_000_000, paid: 10_000_000 };

/** What the users of temporary accounts agree to. */
export const TERMS = "https://www.cloudflare.com/terms/ and https://www.cloudflare.com/privacypolicy/";

/**
 * The report. `config` is wrangler.toml of the environment, `values` the options of the deploy, `login` and `account` what account.mjs tells (undefined without a
 * login), `queues` the names that are needed, `size` that of the upload, `missing` the needs that are not set, and `differs` the
 * text about what runs now.
 */
export async function reportOf({ config, values, facts, login, account, queues, size, missing, differs }) {
  const environment = values.env === undefined ? [] : [`--env=${values.env}`];
  const head = [
    ["Account", accountLine(config, login, values)],
    ["Worker", workerLine(config, values, account)],
    ["Address", addressesOf(config, values).join(", ") || "none: workers_dev is false, and there is no route"],
    ["Upload", uploadLine(size)],
    ["Makes", madeLine(config, queues, account)],
    ["Migrations", migrationsLine(account)],
  ];
  const texts = [
    head.map(([name, text]) => `    ${name.padEnd(12)}${text}`).join("\n"),
    remoteAccess(facts),
    missing.length === 0 ? undefined : missingText(missing, { isKnown: account?.secrets !== undefined || isNew(account), environment }),
    await missingServices(facts, values.env),
    await deployedBefore(values.env),
    localAddresses(facts),
    differs,
  ];
  return `What this deployment does:\n\n${texts.filter((text) => text !== undefined).join("\n\n")}`;
}

/** True for a Worker that the account does not have yet; undefined where that is not known. */
export const isNew = (account) => (account?.deployments === undefined ? undefined : account.deployments.length === 0);

function accountLine({ account_id: written }, login, { temporary }) {
  if (temporary) return `a temporary one, which Cloudflare makes now and deletes unless it is claimed; who uses it agrees to ${TERMS}`;
  if (login === undefined) return "not known: there is no login, so the account cannot be asked what it has";
  const { accounts, email } = login;
  const chosen = written ?? process.env.CLOUDFLARE_ACCOUNT_ID;
  const named = accounts.filter(({ id }) => chosen === undefined || id === chosen).map(({ name, id }) => `${name} (${id})`);
  const by = email ? `, as ${email}` : "";
  if (named.length === 0) return chosen === undefined ? `wrangler does not name it${by}` : `${chosen}${by}`;
  if (named.length === 1) return named[0] + by;
  return `one of ${named.join(", ")}${by}: account_id in wrangler.toml or CLOUDFLARE_ACCOUNT_ID says which`;
}

function workerLine({ name }, { env }, account) {
  const what = `${name}${env === undefined ? "" : `, environment ${env}`}, with a2a-edge ${VERSION}`;
  if (isNew(account) === undefined) return what;
  if (isNew(account)) return `${what}; it is new`;
  const running = account.deployments[0].versions?.[0]?.version_id;
  const mark = account.versions?.find(({ id }) => id === running)?.mark;
  return `${what}; it replaces the version ${running}${mark === undefined ? "" : `, with a2a-edge ${mark.version}`}`;
}

/** The addresses of a deployment, as far as its settings and options tell them. */
function addressesOf({ name, routes = [], route, workers_dev: isAtWorkersDev }, { domain = [], route: given = [] }) {
  const patterns = [...routes, ...(route === undefined ? [] : [route])].map((one) => (typeof one === "string" ? one : one.pattern));
  const listed = [...domain, ...given, ...patterns];
  // wrangler serves there, too, unless there are routes.
  const isThere = isAtWorkersDev ?? listed.length === 0;
  return [...new Set([...listed, ...(isThere ? [`https://${name}.<your subdomain>.workers.dev`] : [])])];
}

function uploadLine({ gzip }) {
  const limits = `at most ${LIMITS.free / 1e6} MB with Workers Free, ${LIMITS.paid / 1e6} MB with Workers Paid`;
  return `${kilobytes(gzip)} gzip; ${limits}${gzip > LIMITS.free ? ", which it needs" : ""}`;
}

function madeLine({ name, d1_databases: databases = [] }, queues, account) {
  const made = [
    ...(isNew(account) === false ? [] : [`the Worker ${name}`]),
    // A database with an id is there.
    ...databases.filter(({ binding, database_id: id }) => id === undefined && (binding !== "DB" || account?.database !== "there")).map(({ database_name: database }) => `the database ${database}`),
  ];
  const lacking = [...queues].filter((queue) => !account?.queues.has(queue));
  if (lacking.length > 0) made.push(`the ${lacking.length === 1 ? "queue" : "queues"} ${lacking.join(", ")}`);
  if (made.length === 0) return "nothing: the account has the Worker, the database and the queues";
  const isKnown = isNew(account) !== undefined && account.database !== "unknown";
  return `${isKnown ? "" : "what the account lacks of these: "}${made.join(", ")}`;
}

function migrationsLine(account) {
  if (account?.applied === undefined) return `those of these that the database lacks: ${migrations().join(", ")}`;
  const lacking = migrations().filter((name) => !account.applied.includes(name));
  return lacking.length === 0 ? "none: the database has all of them" : `${lacking.join(", ")}, after the upload`;
}
