// `npm run deploy`, `npx a2a-edge deploy`: checks and builds everything, creates the queues, uploads the Worker, then migrates the remote database.
import "./lib/node-version.mjs";
import { remoteAccess } from "./lib/access.mjs";
import { command, wranglerLine } from "./lib/command.mjs";
import { localAddresses } from "./lib/local-addresses.mjs";
import { reportRemoteNeeds } from "./lib/needs.mjs";
import { passedOn, readOptions } from "./lib/options.mjs";
import { deployedBefore, missingServices } from "./lib/services.mjs";
import { build, setUp } from "./lib/setup.mjs";
import { tryWorker } from "./lib/try-worker.mjs";
import { Stop, main, say, step } from "./lib/ui.mjs";
import { readConfig, requireEnvironment, wrangler } from "./lib/wrangler.mjs";

const usage = `Usage: ${command("deploy", "[OPTION...]")}

Checks the agents, makes the queues that the account lacks, deploys, and applies the migrations to the remote database.

    --dry-run            builds and packs the upload; needs no login and changes nothing at Cloudflare
    -e, --env NAME       deploys the environment [env.NAME] of wrangler.toml
    --message TEXT       describes the version
    --tag TEXT           names the version
    --var NAME:VALUE     sets a variable of the Worker; may be repeated
    --keep-vars          keeps the variables that were set in the dashboard
    --secrets-file FILE  uploads secrets from this file, too
    --domain NAME        also serves at this domain of the account; may be repeated
    --route PATTERN      also serves at this route; may be repeated
    --strict             stops where a setting was changed in the dashboard meanwhile
    -h, --help           this text`;

const PASSED_ON = {
  "dry-run": { type: "boolean" },
  message: { type: "string" },
  tag: { type: "string" },
  var: { type: "string", multiple: true },
  "keep-vars": { type: "boolean" },
  "secrets-file": { type: "string" },
  domain: { type: "string", multiple: true },
  route: { type: "string", multiple: true },
  strict: { type: "boolean" },
};

await main(async () => {
  const { values } = readOptions({ usage, options: { env: { type: "string", short: "e" }, ...PASSED_ON } });
  const dryRun = values["dry-run"] === true;
  const environment = passedOn(values, ["env"]);
  await setUp(values.env);
  const queues = await queuesOf(values.env);
  if (!dryRun) await checkLogin();
  const found = await build("default");
  const tools = await tryWorker(values.env);

  if (!dryRun) {
    for (const name of queues) await ensureQueue(name, environment);
  }
  const access = remoteAccess(found.facts);
  if (access !== undefined) say(`\n${access}\n`);
  for (const text of [await missingServices(found.facts, values.env), await deployedBefore(values.env), localAddresses(found.facts), dryRun ? await madeIn(values.env, queues) : undefined]) {
    if (text !== undefined) say(`${text}\n`);
  }
  await step(dryRun ? "Packing the upload (dry run)" : "Deploying", async () => {
    // The first deploy creates the database, so it runs before the migrations.
    const { code } = await wrangler(["deploy", ...environment, ...passedOn(values, Object.keys(PASSED_ON))]);
    if (code !== 0) throw new Stop("wrangler deploy failed; its messages are above.");
  });
  if (dryRun) return reportRemoteNeeds({ ...found.facts, tools }, values);
  await step("Migrating the remote database", async () => {
    const migrate = ["d1", "migrations", "apply", "DB", "--remote", ...environment];
    if ((await wrangler(migrate)).code !== 0) {
      throw new Stop(`The Worker is deployed, but its database could not be migrated.\n\n    Run: ${wranglerLine(...migrate)}`);
    }
  });
  await reportRemoteNeeds({ ...found.facts, tools }, values);
});

/** The queues in an environment of wrangler.toml; a deploy creates the database, but not the queues. */
async function queuesOf(environment) {
  // Without this check, wrangler would deploy the top level of a file without environments under another name.
  await requireEnvironment(environment);
  const { queues } = await readConfig(environment);
  const named = [...(queues.producers ?? []), ...(queues.consumers ?? [])];
  return new Set(named.flatMap(({ queue, dead_letter_queue: deadLetters }) => [queue, deadLetters]).filter(Boolean));
}

/** The line about what a deployment makes in the account. */
async function madeIn(environment, queues) {
  const { name, d1_databases: databases = [] } = await readConfig(environment);
  const made = [`the Worker ${name}`, ...databases.map(({ database_name: database }) => `the database ${database}`), ...[...queues].map((queue) => `the queue ${queue}`)];
  return `A deployment makes what the account lacks of these: ${made.join(", ")}.`;
}

/** Creates a queue if the account does not have it. */
async function ensureQueue(name, environment) {
  if ((await wrangler(["queues", "info", name, ...environment], { quiet: true })).code === 0) return;
  await step(`Making the queue ${name}`, async () => {
    const { code, output } = await wrangler(["queues", "create", name, ...environment], { quiet: true });
    if (code !== 0) throw new Stop(`The queue could not be made:\n\n${output.trim()}`);
  });
}

async function checkLogin() {
  const { output } = await wrangler(["whoami", "--json"], { quiet: true });
  if (/"loggedIn":\s*false/.test(output)) {
    throw new Stop(
      "You are not logged in to Cloudflare.\n\n" +
        `    Run: ${wranglerLine("login")}\n` +
        "    or set CLOUDFLARE_API_TOKEN (and CLOUDFLARE_ACCOUNT_ID, if you have several accounts).\n\n" +
        `${command("deploy", "--dry-run")} shows what would be uploaded without a login.`,
    );
  }
}
