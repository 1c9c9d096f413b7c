// `a2a-edge cancel TASK`.
import { actOn, findTask, pathOf } from "../find.mjs";
import { COMMON, JSON_OPTION, YES_OPTION } from "../operate.mjs";
import { confirm } from "../prompt.mjs";
import { listedOf } from "../listing.mjs";
import { clean, jsonLine } from "../text.mjs";
import { taskFact } from "./tasks.mjs";
import { stateCell } from "../words.mjs";
import { record } from "../values.mjs";

export default {
  does: "Cancels a task. It cannot be undone.",
  args: "TASK",
  takes: [1, 1],
  options: {
    ...COMMON,
    owner: { type: "string", value: "OWNER", does: "for operators: whose task it is, where a client has chosen its id" },
    ...YES_OPTION,
    ...JSON_OPTION,
  },
  async run({ print, values, args, server: chosen }) {
    const server = await chosen();
    const task = await findTask({ server, print }, args[0], values);
    await confirm(`Cancel task ${task.id} of ${task.agent.slug} at ${server.origin}?`, values.yes);
    const canceled = record(await server.json({ agent: task.agent, path: pathOf(task, ":cancel"), headers: actOn(server, task), body: {} }));
    const fact = listedOf(task.agent.slug, canceled);
    await print.line(values.json ? jsonLine(taskFact(fact)) : clean(`Task ${task.id} of ${task.agent.slug}: ${stateCell(fact.state).text}`));
  },
};
