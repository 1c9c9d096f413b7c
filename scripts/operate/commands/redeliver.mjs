// `a2a-edge redeliver`: sends the events of a task again, to one webhook or to all that need mending.
import { EXIT, Failure } from "../failure.mjs";
import { findTask } from "../find.mjs";
import { COMMON, JSON_OPTION, YES_OPTION } from "../operate.mjs";
import { confirm } from "../prompt.mjs";
import { clean, jsonLine } from "../text.mjs";
import { counted, numberOf } from "../words.mjs";
import { text } from "../values.mjs";
import { firstOwed, sendAgain, troubledOf, webhooksOf } from "../webhooks.mjs";
import { STATE_OPTION, troubleOf } from "./webhooks.mjs";

export default {
  does: "Sends events of a task again, also to a webhook that is suspended.",
  args: "[TASK [WEBHOOK]]",
  takes: [0, 2],
  about: `Without WEBHOOK it is the only one of the task. Every event from a generation on is sent: --from, else the oldest event that was
given up, or the first that a suspended webhook has not got. Without TASK, --all sends again to every webhook that
\`a2a-edge webhooks\` lists, as far as it is owed something.`,
  options: {
    ...COMMON,
    from: { type: "string", value: "GENERATION", does: "the first event to send again" },
    all: { type: "boolean", does: "all webhooks in trouble" },
    state: { ...STATE_OPTION.state, does: `with --all: ${STATE_OPTION.state.does}` },
    owner: { type: "string", value: "OWNER", does: "for operators: with --all, only those of this owner; else whose task it is" },
    ...YES_OPTION,
    ...JSON_OPTION,
  },
  async run(context) {
    const { values, args, refuse, server: chosen } = context;
    if ((args.length === 0) !== (values.all === true)) throw refuse("Name a task, or --all.");
    if (values.all && values.from !== undefined) throw refuse("--from is for one task.");
    const from = values.from === undefined ? undefined : numberOf("from", values.from);
    const server = await chosen();
    return values.all ? mendAll(context, server) : mendOne(context, server, from);
  },
};

async function mendOne({ print, values, args }, server, given) {
  const task = await findTask({ server, print }, args[0], values);
  const webhooks = await webhooksOf(server, task);
  const webhook = args[1] === undefined ? webhooks[0] : webhooks.find(({ id }) => id === args[1]);
  const names = webhooks.map(({ id }) => clean(id)).join(", ");
  if (webhook === undefined)
    throw new Failure(
      webhooks.length === 0 ? `Task ${task.id} has no webhook.` : `Task ${task.id} has no webhook "${args[1]}"; it has ${names}.`,
      EXIT.notFound,
    );
  if (args[1] === undefined && webhooks.length > 1) throw new Failure(`Task ${task.id} has several webhooks: name one of ${names}.`, EXIT.usage);
  const from = given ?? firstOwed(webhook);
  if (from === undefined)
    throw new Failure(`The webhook ${clean(webhook.id)} has given nothing up. To send again all the same, name the first event: --from 1.`);
  await confirm(`Send the events from ${from} on again to ${clean(webhook.id)} at ${clean(webhook.url)}?`, values.yes);
  await sendAgain(server, task, webhook.id, from);
  await told(print, values, { agent: task.agent.slug, task: task.id, webhook: webhook.id, from });
}

async function mendAll({ print, values, failed, exit }, server) {
  const { agents, trouble } = await troubleOf(server, values);
  await confirm(
    `Send again to all ${values.state ?? ""} webhooks in trouble of ${values.agent ?? `all agents of ${server.origin}`}?`.replace("  ", " "),
    values.yes,
  );
  let [sent, owed] = [0, 0];
  for (const agent of agents) {
    try {
      for await (const webhook of troubledOf(server, agent, { trouble, owner: values.owner })) {
        const from = firstOwed(webhook);
        print.progress("Sending again to webhooks", sent);
        // One that fails is tried again by itself.
        if (from === undefined) continue;
        owed += 1;
        const [id, name] = [text(webhook.taskId) ?? "", text(webhook.id) ?? ""];
        try {
          await sendAgain(server, { agent, id, owner: text(webhook.owner) }, name, from);
          sent += 1;
          await told(print, values, { agent: agent.slug, task: id, webhook: name, from });
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          failed(error);
        }
      }
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failed(error);
    }
  }
  if (!values.json) print.note(owed === 0 ? "No webhook is owed anything." : `Sent again to ${sent} of ${counted(owed, "webhook")}.`);
  return exit();
}

const told = (print, { json }, { agent, task, webhook, from }) =>
  print.line(
    json ? jsonLine({ agent, task, webhook, fromGeneration: from }) : `${clean(task)} ${clean(webhook)}: the events from ${from} on are sent again`,
  );
