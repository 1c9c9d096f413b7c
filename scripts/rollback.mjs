// `npx a2a-edge rollback`: says what an older version of the Worker reads of what is stored, and has wrangler deploy that version.
import "./lib/node-version.mjs";
import { deploymentsOf, loginOf, versionsOf } from "./lib/account.mjs";
import { notLoggedIn } from "./lib/command.mjs";
import { ROLLBACK_OPTIONS, ROLLBACK_USAGE } from "./lib/deploy-options.mjs";
import { leftAlone } from "./lib/forms.mjs";
import { passedOn, readOptions } from "./lib/options.mjs";
import { ensurePackages } from "./lib/packages.mjs";
import { Stop, main, say, step } from "./lib/ui.mjs";
import { environmentConfig, wrangler } from "./lib/wrangler.mjs";
import { confirm } from "./operate/prompt.mjs";
import { timeWord } from "./operate/words.mjs";

/** What every rollback does. */
const KEPT = "The code, the agents, their access and the variables become those of that time. Tasks, the database and queues stay as they are.\nWhere a secret was changed since, wrangler names it.";

await main(async () => {
  const { values, positionals, refuse } = readOptions({ usage: ROLLBACK_USAGE, options: ROLLBACK_OPTIONS, positionals: true });
  if (positionals.length > 1) throw refuse(`There is no argument "${positionals[1]}".`);
  const environment = passedOn(values, ["env"]);
  await ensurePackages();
  const { name, durable_objects: { code_update_strategy: strategy } } = await environmentConfig(values.env);
  if ((await loginOf()) === undefined) throw notLoggedIn();
  const { running, target, others } = await step("Asking which versions there are", () => chosen(name, positionals[0], environment));
  say(`\n${told({ name, running, target, others, strategy })}\n`);
  if (values["dry-run"]) return;
  await confirm(`Go back to ${target.id}?`, values.yes);
  await step("Going back", async () => {
    const message = values.message ?? `back from ${running.id}`;
    const { code } = await wrangler(["rollback", target.id, `--message=${message}`, "--yes", ...environment]);
    if (code !== 0) throw new Stop("wrangler rollback failed; its messages are above. The version that runs is the same as before.");
  });
});

/** The version that runs, the one to go back to, and those that run beside it. `given` is its id or the beginning of one. */
async function chosen(name, given, environment) {
  const deployments = await deploymentsOf(environment);
  if (deployments === undefined) throw new Stop(`wrangler does not tell the deployments of ${name}. To see why: npx a2a-edge wrangler deployments list`);
  if (deployments.length === 0) throw new Stop(`The account has no Worker ${name}, so there is nothing to go back to.`);
  const known = (await versionsOf(environment)) ?? [];
  const find = (id) => known.find((version) => version.id === id) ?? { id };
  const [now, ...before] = deployments.map(({ versions = [] }) => [...versions].sort((one, other) => other.percentage - one.percentage));
  const [running, ...others] = now.map(({ version_id: id }) => find(id));
  if (running === undefined) throw new Stop(`wrangler does not tell which version of ${name} runs. Look at: npx a2a-edge wrangler deployments list`);
  return { running, others, target: targetOf({ given, known, find, running, before: before.map(([version]) => version) }) };
}

function targetOf({ given, known, find, running, before }) {
  if (given === undefined) {
    // As wrangler chooses it, but never the version that runs, as after a rollback.
    const stable = before.find((version) => version?.percentage === 100 && version.version_id !== running.id);
    if (stable === undefined) throw new Stop("No other version was deployed among the last ten deployments. Name one: npx a2a-edge wrangler versions list shows their ids.");
    return find(stable.version_id);
  }
  const ids = new Set([...known.map(({ id }) => id), ...before.map((version) => version?.version_id)].filter((id) => id?.startsWith(given)));
  if (ids.size > 1) throw new Stop(`"${given}" names several versions: ${[...ids].join(", ")}. Give the whole id.`);
  const [id = given] = ids;
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) throw new Stop(`There is no version "${given}" among the newest. npx a2a-edge wrangler versions list shows them; an older one needs its whole id.`);
  if (id === running.id) throw new Stop(`${id} is the version that runs.`);
  return find(id);
}

/** What the rollback does, for people. */
function told({ name, running, target, others, strategy }) {
  const beside = others.length === 0 ? "" : `, beside ${others.map(({ id }) => id).join(", ")}, which ${others.length === 1 ? "ends" : "end"}, too`;
  return [`${name} runs ${shown(running)}${beside}.\nIt goes back to ${shown(target)}.`, storedText(running, target), KEPT + whenText(strategy)].join("\n\n");
}

/** When objects take the older code, by `code_update_strategy` of wrangler.toml. */
function whenText(strategy) {
  if (strategy?.mode !== "deferred") return "";
  return `\nObjects at work go on with the code of now until they are idle, for ${strategy.max_delay} s at most. To restart them at once:\n\n    npx a2a-edge wrangler rollback VERSION --durable-objects-code-update-mode immediate`;
}

function shown({ id, created, mark, message }) {
  const [version, said] = mark === undefined ? ["unknown version of a2a-edge", message] : [`a2a-edge ${mark.version}`, mark.said];
  return `${id} (${[created === undefined ? "" : `of ${timeWord(created)}`, version, said === undefined ? "" : `"${said}"`].filter(Boolean).join(", ")})`;
}

/** What of the present the older version does not read. */
function storedText({ mark: running }, { mark: target }) {
  if (running === undefined || target === undefined) {
    const which = [[running, "the version that runs"], [target, "the one to go back to"]].filter(([mark]) => mark === undefined).map(([, which]) => which);
    return `Which stored forms ${which.join(" and ")} reads is not known: only \`a2a-edge deploy\` notes that. If they are of the same version of a2a-edge, all
that is stored is read. An older one leaves alone what it cannot read, and nothing of that is lost (docs/upgrades.md).`;
  }
  const { left, tables } = leftAlone(running, target);
  const forms = Object.entries(target.forms).map(([name, { read }]) => `${name} ${read}`).join(", ");
  const read = `a2a-edge ${target.version} reads these forms: ${forms}.`;
  const migrated = tables === 0 ? [] : [`The database keeps ${tables === 1 ? "a migration" : `${tables} migrations`} that it does not know, and it works with the newer tables.`];
  if (left.length === 0) return [`${read} That is all that was written since.`, ...migrated].join("\n");
  return [read, ...migrated, `It leaves alone:\n\n${left.map((sentence) => `    ${sentence}`).join("\n")}`].join("\n");
}
