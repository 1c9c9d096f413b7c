// The webhooks of a task, and those in trouble of all tasks (docs/webhooks.md).
import { EXIT, Failure } from "./failure.mjs";
import { actOn, pathOf } from "./find.mjs";
import { list, number, record, text } from "./values.mjs";

const PAGE = 100;

/** The words of options for the kinds of trouble. */
export const TROUBLES = { failing: "failing", suspended: "suspended", "given-up": "deadLetters" };

/** The webhooks in trouble of an agent, newest trouble first, a page at a time. */
export async function* troubledOf(server, agent, { trouble, owner }) {
  for (let token; ;) {
    const query = { pageSize: PAGE, state: trouble, pageToken: token };
    const page = record(await server.json({ agent, path: `/${agent.slug}/webhooks`, query, headers: server.asOperator(agent, owner) }));
    const next = text(page.nextPageToken) ?? "";
    if (!Array.isArray(page.webhooks) || (next !== "" && next === token))
      throw new Failure(`${agent.slug} answered with something that is no page of webhooks.`, EXIT.unreachable);
    for (const webhook of page.webhooks.map(record)) yield webhook;
    token = next;
    if (token === "") return;
  }
}

/** The webhooks of a task in the order of registration: their configurations with how their notifications fared. */
export async function webhooksOf(server, task) {
  const headers = { "a2a-extensions": "urn:a2a-edge:webhooks:v1", ...actOn(server, task) };
  const path = pathOf(task, "/pushNotificationConfigs");
  const { configs } = record(await server.json({ agent: task.agent, path, headers }));
  const webhooks = [];
  for (const { id, url, events } of list(configs).map(record)) {
    const deliveries = record(await server.json({ agent: task.agent, path: `${path}/${encodeURIComponent(text(id) ?? "")}/deliveries`, headers }));
    const { taskId: _, id: __, ...fared } = deliveries;
    webhooks.push({ id: text(id) ?? "", url: originOf(url), events, ...fared });
  }
  return webhooks;
}

/** The owner of a task reads the whole URL of its webhook, which may hold a secret; here its origin is enough. */
function originOf(url) {
  try {
    return new URL(text(url) ?? "").origin;
  } catch {
    return "";
  }
}

/** The generation from which to send again: that of the oldest event that was given up, or of the first one that a suspended webhook has not got. */
export function firstOwed(webhook) {
  const given = list(webhook.deadLetters)
    .map((letter) => number(record(letter).generation))
    .filter((generation) => generation !== undefined);
  const delivered = number(webhook.deliveredGeneration);
  const next = webhook.health === "suspended" && delivered !== undefined ? [delivered + 1] : [];
  const from = Math.min(...given, ...next);
  return Number.isFinite(from) ? from : undefined;
}

/** Sends the events from a generation on again. */
export async function sendAgain(server, task, webhook, fromGeneration) {
  const path = pathOf(task, `/pushNotificationConfigs/${encodeURIComponent(webhook)}:redeliver`);
  await server.json({ agent: task.agent, path, headers: actOn(server, task), body: { fromGeneration } });
}
