// `a2a-edge webhooks`: those that need mending.
import { EXIT, Failure } from "../failure.mjs";
import { shortId } from "../find.mjs";
import { COMMON, JSON_OPTION } from "../operate.mjs";
import { Table } from "../table.mjs";
import { jsonLine } from "../text.mjs";
import { healthCell, timeWord } from "../words.mjs";
import { list, record, text, withInstants } from "../values.mjs";
import { TROUBLES, troubledOf } from "../webhooks.mjs";

export const STATE_OPTION = { state: { type: "string", value: "STATE", does: `only these: ${Object.keys(TROUBLES).join(", ")}` } };

/** The agents that send notifications, and the kind of trouble that an option names. */
export async function troubleOf(server, { agent, state }) {
  if (state !== undefined && !Object.hasOwn(TROUBLES, state))
    throw new Failure(`There is no state "${state}"; webhooks in trouble are ${Object.keys(TROUBLES).join(", ")}.`, EXIT.usage);
  const agents = await server.chosenAgents(agent);
  return {
    agents: agents.filter((one) => agent !== undefined || record(one.capabilities).pushNotifications === true),
    trouble: state && TROUBLES[state],
  };
}

export default {
  does: "Lists the webhooks of all tasks that are failing or suspended, or have given events up.",
  about: "Those that work are not listed. `a2a-edge redeliver` sends again.",
  options: {
    ...COMMON,
    ...STATE_OPTION,
    owner: { type: "string", value: "OWNER", does: "for operators: only those of this owner, such as key:billing" },
    ...JSON_OPTION,
  },
  async run({ print, values, server: chosen, failed, exit }) {
    const server = await chosen();
    const { agents, trouble } = await troubleOf(server, values);
    const table = new Table(print, [
      { name: "Webhook" },
      { name: "Task", isWhole: true },
      { name: "Agent", extra: 1 },
      { name: "State", isWhole: true },
      { name: "Given up", isRight: true },
      { name: "Owner", extra: 2 },
      { name: "At", extra: 4 },
      { name: "Failing since", isWhole: true, extra: 3 },
      { name: "Next try", isWhole: true, extra: 5 },
      { name: "Why" },
    ]);
    let shown = 0;
    for (const agent of agents) {
      try {
        for await (const webhook of troubledOf(server, agent, { trouble, owner: values.owner })) {
          const { id, taskId, url, health, owner, failingSince, nextAttemptAt, lastError, givenUp } = webhook;
          shown += 1;
          if (values.json) await print.line(jsonLine({ agent: agent.slug, ...withInstants(webhook) }));
          else {
            const task = text(taskId) ?? "";
            const since = typeof failingSince === "number" ? timeWord(failingSince) : "";
            const next = typeof nextAttemptAt === "number" ? timeWord(nextAttemptAt) : health === "suspended" ? "none" : "";
            const why = text(lastError) ?? text(record(list(webhook.deadLetters).at(-1)).error);
            await table.row([
              id,
              print.isTerminal ? shortId(task) : task,
              agent.slug,
              healthCell(health),
              `${givenUp ?? 0}`,
              owner,
              url,
              since,
              next,
              why,
            ]);
          }
        }
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        failed(error);
      }
    }
    await table.flush();
    if (shown === 0 && exit() === 0 && !values.json) print.note("All is well: no webhook needs mending.");
    return exit();
  },
};
