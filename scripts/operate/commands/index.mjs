// `a2a-edge index move`: copies the index of tasks to the place to which it moves.
import { Failure } from "../failure.mjs";
import { COMMON, JSON_OPTION } from "../operate.mjs";
import { clean, jsonLine } from "../text.mjs";
import { number, record } from "../values.mjs";
import { counted } from "../words.mjs";

const { url, agent } = COMMON;

export default {
  does: "Copies the index of tasks to the place to which it moves (the setting INDEX_COPY).",
  args: "move",
  takes: [1, 1],
  about: `The server writes each change to both places while INDEX_COPY is set; this copies what was there before, in parts, for every agent of
which you are an operator. It may be interrupted: the next run goes on. The cron trigger copies the rest, also of agents without
operators. docs/scale.md says how to move.`,
  options: {
    url,
    agent,
    anew: { type: "boolean", does: "begin at the first row again, for example because INDEX_COPY was not set for a while" },
    ...JSON_OPTION,
  },
  async run({ print, values, args, refuse, server: chosen, failed, exit }) {
    if (args[0] !== "move") throw refuse(`There is no argument "${args[0]}"; it is: move.`);
    const server = await chosen();
    for (const one of await server.chosenAgents(values.agent)) {
      try {
        const copied = await copy(print, server, one, values.anew === true);
        print.clear();
        print.line(values.json ? jsonLine({ agent: one.slug, copied }) : `${clean(one.slug)}: ${counted(copied, "task")} copied`);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        failed(error);
      }
    }
    return exit();
  },
};

/** Copies all rows of an agent; returns how many tasks they are. */
async function copy(print, server, agent, isAnew) {
  const ask = async (anew) => {
    const query = anew ? { anew: "true" } : {};
    return record(await server.json({ agent, path: `/${agent.slug}/index:copy`, query, method: "POST", headers: server.asOperator(agent) }));
  };
  for (let answer = await ask(isAnew); ; answer = await ask(false)) {
    const copied = number(answer.copied) ?? 0;
    if (answer.done === true) return copied;
    print.progress(`Copying tasks of ${agent.slug}`, copied);
  }
}
