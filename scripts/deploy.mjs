// `npm run deploy`, `npx a2a-edge deploy`: checks and builds everything, says what it will do, creates the queues, uploads the Worker, then migrates the remote
// database. With --diff or --check it asks what runs, and changes nothing.
import "./lib/node-version.mjs";
import { EMPTY, accountOf, loginOf } from "./lib/account.mjs";
import { accessOf } from "./lib/access.mjs";
import { servesAssets } from "./lib/assets.mjs";
import { command, notLoggedIn, wranglerLine } from "./lib/command.mjs";
import { DEPLOY_OPTIONS, DEPLOY_USAGE } from "./lib/deploy-options.mjs";
import { cardsOf, differencesOf, differencesText, ownAgents, runningAgents } from "./lib/diff.mjs";
import { marked } from "./lib/forms.mjs";
import { deployedOf, missingRemoteNeeds } from "./lib/needs.mjs";
import { passedOn, readOptions } from "./lib/options.mjs";
import { LIMITS, TERMS, isNew, reportOf } from "./lib/report.mjs";
import { build, setUp } from "./lib/setup.mjs";
import { kilobytes, packUpload } from "./lib/size.mjs";
import { tryWorker } from "./lib/try-worker.mjs";
import { Stop, main, say, sayBesideResults, step } from "./lib/ui.mjs";
import { VERSION } from "./lib/upgrade.mjs";
import { environmentConfig, wrangler } from "./lib/wrangler.mjs";
import { EXIT } from "./operate/failure.mjs";
import { ending, serverOf } from "./operate/operate.mjs";
import { canAsk, confirm } from "./operate/prompt.mjs";
import { jsonLine } from "./operate/text.mjs";
import { tryServer } from "./operate/trial.mjs";

/** The options that wrangler deploy gets unchanged. */
const PASSED_ON = Object.keys(DEPLOY_OPTIONS).filter((name) => DEPLOY_OPTIONS[name].isPassed);

await main(async () => {
  const { values, refuse } = readOptions({ usage: DEPLOY_USAGE, options: DEPLOY_OPTIONS });
  checkTogether(values, refuse);
  if (values.check !== undefined) return ending(async (print) => tryServer({ print, values, server: await serverOf({ url: values.check, own: true }) }));
  if (values.diff !== undefined) return ending((print) => compare(print, values));
  return deploy(values);
});

/** Refuses options that do not go together. */
function checkTogether(values, refuse) {
  const asks = ["check", "diff"].filter((name) => values[name] !== undefined);
  if (asks.length > 1) throw refuse("--check and --diff exclude each other.");
  const [ask] = asks;
  const alone = Object.keys(DEPLOY_OPTIONS).filter((name) => DEPLOY_OPTIONS[name].with !== undefined);
  for (const name of alone.filter((name) => values[name] !== undefined)) {
    if (!DEPLOY_OPTIONS[name].with.includes(ask)) throw refuse(`--${name} is for --${DEPLOY_OPTIONS[name].with.join(" and --")}.`);
  }
  if (ask === undefined) return;
  const others = Object.keys(values).filter((name) => name !== ask && !alone.includes(name) && !(ask === "diff" && name === "env"));
  if (others.length > 0) throw refuse(`--${ask} deploys nothing, so --${others[0]} has no meaning with it.`);
}

async function deploy(values) {
  const dryRun = values["dry-run"] === true;
  const environment = passedOn(values, ["env"]);
  const passed = passedOn(values, PASSED_ON);
  await setUp(values.env);
  const config = await environmentConfig(values.env);
  const queues = queuesIn(config);
  const login = await loginOf();
  // wrangler would deploy with the login.
  if (login !== undefined && values.temporary) throw new Stop(`--temporary is for machines without a login, and this one has one${login.email ? `, as ${login.email}` : ""}.\n\n    Leave the option out, or run: ${wranglerLine("logout")}`);
  if (login === undefined && !dryRun && !values.temporary) throw notLoggedIn(`${command("deploy", "--dry-run")} says what would be deployed without a login.`);
  const found = await build("default");
  const { tools, told: cards } = await tryWorker(values.env, (url) => cardsOf(found.facts, url));
  const { total: size } = await step("Packing the upload", () => packUpload([...environment, ...passed]));
  const account = values.temporary ? EMPTY : login === undefined ? undefined : await step("Asking the account what it has", () => accountOf({ queues, databases: config.d1_databases, environment }));
  const missing = await missingRemoteNeeds({ ...found.facts, tools }, values, account?.secrets);
  const running = await atKnownAddress(config, values, account, ownAgents(found.facts, cards));
  say(`\n${await reportOf({ config, values, facts: found.facts, login, account, queues, size, missing, differs: running.text })}\n`);
  if (size.gzip > LIMITS.paid) throw new Stop(`The upload is larger than any plan allows (${kilobytes(LIMITS.paid)} gzip). ${command("size")} says what is in it.`);
  if (dryRun) return;

  const opened = publicFirst(account, found.facts, running.differs);
  const asked = [...(values.temporary ? [`Who uses a temporary account agrees to ${TERMS}.`] : []), ...(opened.length > 0 ? [`Anybody will be able to reach ${opened.join(", ")}.`] : [])];
  if (asked.length > 0 && canAsk()) await confirm(`${asked.join(" ")} Deploy?`, values.yes);
  const temporary = passedOn(values, ["temporary"]);
  for (const name of queues) {
    if (!account?.queues.has(name)) await ensureQueue(name, [...environment, ...temporary], !values.temporary);
  }
  const { output } = await step("Deploying", async () => {
    // The first deploy creates the database, so it runs before the migrations.
    const result = await wrangler(["deploy", ...environment, ...temporary, `--message=${marked(values.message)}`, ...passed]);
    if (result.code !== 0) throw new Stop("wrangler deploy failed; its messages are above.");
    return result;
  });
  await step("Migrating the remote database", async () => {
    const migrate = ["d1", "migrations", "apply", "DB", "--remote", ...environment, ...temporary];
    if ((await wrangler(migrate)).code !== 0) {
      throw new Stop(`The Worker is deployed, but its database could not be migrated.\n\n    Run: ${wranglerLine(...migrate)}`);
    }
  });
  const [url = addressOf(config, values) ?? "URL"] = /https:\/\/[\w.-]+\.workers\.dev/.exec(output) ?? [];
  if (missing.length > 0) say(`\nNot set, as the report above says: ${missing.map(({ name }) => name).join(", ")}.`);
  say(`\nTo try it: ${command("deploy", "--check", url)}`);
}

/** The names of the queues; a deploy creates the database, but not the queues. */
function queuesIn({ queues }) {
  const named = [...(queues.producers ?? []), ...(queues.consumers ?? [])];
  return new Set(named.flatMap(({ queue, dead_letter_queue: deadLetters }) => [queue, deadLetters]).filter(Boolean));
}

/** Creates a queue if the account does not have it. With `isLacking` the account was asked already; a temporary one may have been used before. */
async function ensureQueue(name, options, isLacking) {
  if (!isLacking && (await wrangler(["queues", "info", name, ...options], { quiet: true })).code === 0) return;
  await step(`Making the queue ${name}`, async () => {
    const { code, output } = await wrangler(["queues", "create", name, ...options], { quiet: true });
    if (code !== 0) throw new Stop(`The queue could not be made:\n\n${output.trim()}`);
  });
}

/** `--diff URL`: says what differs there, and returns the exit code. */
async function compare(print, values) {
  if (values.json) sayBesideResults();
  const server = await serverOf({ url: values.diff, own: true });
  const running = await runningAgents(server);
  await setUp(values.env);
  await environmentConfig(values.env);
  const { facts } = await build("default");
  const { told: cards } = await tryWorker(values.env, (url) => cardsOf(facts, url));
  const differs = differencesOf(ownAgents(facts, cards), running);
  if (values.json) for (const one of differs) await print.line(jsonLine(one));
  else await print.line(differencesText(differs, server.origin, running.version, VERSION));
  return differs.length === 0 ? 0 : EXIT.differs;
}

/** What differs from what runs, where the deployment has an address that its settings name. Why that is not known is part of the text. */
async function atKnownAddress(config, values, account, own) {
  const url = isNew(account) === false ? addressOf(config, values) : undefined;
  if (url === undefined) return { differs: [] };
  try {
    const server = await serverOf({ url, own: true });
    const running = await runningAgents(server);
    const differs = differencesOf(own, running);
    return { differs, text: differencesText(differs, server.origin, running.version, VERSION) };
  } catch (error) {
    // Values that are nested too deep overflow the stack.
    if (!(error instanceof Stop || error instanceof RangeError)) throw error;
    return { differs: [], text: `What runs at ${url} could not be compared: ${error instanceof Stop ? error.message : "it answers with cards that cannot be read."}` };
  }
}

/** PUBLIC_URL, or the first domain. */
function addressOf({ vars = {}, routes = [] }, { var: given = [], domain = [] }) {
  const set = given.filter((text) => text.startsWith("PUBLIC_URL:")).map((text) => text.slice("PUBLIC_URL:".length));
  const domains = [...domain, ...routes.filter((route) => route.custom_domain === true).map(({ pattern }) => pattern)];
  return [...set, vars.PUBLIC_URL, ...domains.map((name) => `https://${name}`)].find(Boolean);
}

/** What becomes public by this deployment for the first time: all that is public if the Worker is new, else the agents that were not open before. */
function publicFirst(account, facts, differs) {
  const open = accessOf(deployedOf(facts)).filter((agent) => agent.open && !agent.hasSchemes).map(({ slug }) => slug);
  if (isNew(account)) return [...open, ...(servesAssets() ? ["the console"] : [])];
  return open.filter((slug) => differs.some(({ agent, kind }) => agent === slug && ["added", "access"].includes(kind)));
}
