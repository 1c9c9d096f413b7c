// `a2a-edge show TASK`: a task with its webhooks and its timeline.
import { Failure } from "../failure.mjs";
import { findTask } from "../find.mjs";
import { COMMON, JSON_OPTION } from "../operate.mjs";
import { FILTERS } from "./tasks.mjs";
import { clean, jsonLine } from "../text.mjs";
import { Entries, outcomeWord, stepTitle, timelinePages, usageWord } from "../timeline.mjs";
import { healthCell, stateCell, timeWord } from "../words.mjs";
import { list, number, record, text, withInstants } from "../values.mjs";
import { webhooksOf } from "../webhooks.mjs";

export default {
  does: "Shows a task: its state, times and use of models, its webhooks, and its timeline from the oldest entry on.",
  args: "TASK",
  takes: [1, 1],
  about: `TASK is the id of a task, or at least the first 8 letters of one of the newest 1000 tasks. --json has a line for the task, one
for each webhook, and one for each entry of the timeline (docs/timeline.md).`,
  options: { ...COMMON, owner: { ...FILTERS.owner, does: "for operators: whose task it is, where a client has chosen its id" }, ...JSON_OPTION },
  async run(context) {
    const { print, values, args, server: chosen } = context;
    const server = await chosen();
    const task = await findTask({ server, print }, args[0], values);
    const pages = timelinePages(server, task);
    const { value: first } = await pages.next();
    await showHead(print, values.json, task, first);
    await showWebhooks(context, server, task);
    if (!values.json) await print.line(`\n${print.toned("Timeline", "head")}`);
    const entries = new Entries(print, values.json);
    for (let page = first; page !== undefined; page = (await pages.next()).value) await entries.show(page.entries);
    if (!values.json)
      for (const step of list(first.underWay).map(record))
        await print.line(`  ${clean(`${stepTitle(step)} is under way since ${timeWord(step.since)}`)}`);
    return context.exit();
  },
};

/** What a page of the timeline says of the task itself. */
export async function showHead(print, isJson, { agent }, page) {
  const { entries: _, next: __, resume: ___, nextPageToken: ____, resumeToken: _____, ...head } = page;
  if (isJson) return print.line(jsonLine({ type: "task", ...withInstants(head), agent: agent.slug }));
  const state = stateCell(head.state);
  const facts = [
    ["Task", text(head.taskId)],
    ["Agent", agent.slug],
    ["State", `${print.toned(clean(state.text), state.tone)} since ${timeWord(head.statusAt)}`],
    ["Owner", text(head.owner)],
    ["Context", text(head.contextId)],
    ["Created", timeWord(head.createdAt)],
    ["Generation", head.generation],
    ["Models", head.usage === undefined ? undefined : `${record(head.usage).requests} requests, ${usageWord(head.usage)}`],
    ["Failed steps", number(head.failedSteps)],
  ];
  for (const [name, value] of facts) if (value !== undefined) await print.line(`${name.padEnd(13)}${name === "State" ? value : clean(value)}`);
}

async function showWebhooks({ print, values, failed }, server, task) {
  if (record(task.agent.capabilities).pushNotifications !== true) return;
  let webhooks;
  try {
    webhooks = await webhooksOf(server, task);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The timeline can be shown without them.
    return failed(error);
  }
  if (values.json) {
    for (const webhook of webhooks) await print.line(jsonLine({ type: "webhook", ...withInstants(webhook) }));
    return;
  }
  if (webhooks.length > 0) await print.line(`\n${print.toned("Webhooks", "head")}`);
  for (const webhook of webhooks) {
    const { text: word, tone } = healthCell(webhook.health);
    const letters = list(webhook.deadLetters).length;
    const last = list(webhook.attempts).map(record).at(-1);
    const told = [
      `got events up to ${webhook.deliveredGeneration}`,
      letters > 0 ? `${letters} given up` : "",
      last === undefined
        ? ""
        : `last attempt ${timeWord(last.at)}: ${outcomeWord(last.outcome)}${last.status === undefined ? "" : ` (${last.status})`}`,
      typeof webhook.nextAttemptAt === "number" ? `next attempt ${timeWord(webhook.nextAttemptAt)}` : "",
      text(webhook.lastError) ?? "",
    ];
    await print.line(
      `  ${clean(webhook.id)} at ${clean(webhook.url)}: ${print.toned(clean(word), tone)}, ${clean(told.filter((part) => part !== "").join("; "))}`,
    );
  }
}
