// The same with a2a-edge: an executor with as many steps as are asked for.
import agents from "#agents";
import { TaskObject as Plain, executor, worker } from "a2a-edge";
import { Noting } from "./noting.js";

const steps = executor({
  async execute(turn) {
    const { count, url } = turn.data;
    for (let index = 1; index <= count; index += 1) {
      await turn.step(`step-${index}`, async () => {
        if (url !== "") await turn.fetch(`${url}/${index}`);
        return index;
      });
    }
    return { data: count };
  },
});

export class TaskObject extends Noting(Plain) {}

const { fetch: answer, ...handlers } = worker({ agents, executors: { steps } });
export default {
  ...handlers,
  async fetch(request, env, ctx) {
    const { searchParams } = new URL(request.url);
    const task = searchParams.get("rows-of");
    if (task === null) return answer(request, env, ctx);
    return Response.json({ rows: await env.TASKS.get(env.TASKS.idFromString(task)).rows() });
  },
};
