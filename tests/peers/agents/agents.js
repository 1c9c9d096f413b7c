// A Worker with the package `agents`: a task of `agents/tasks` with as many steps as are asked for.
import { DurableObject } from "cloudflare:workers";
import { Lifecycle } from "agents/lifecycle";
import { Tasks } from "agents/tasks";
import { Noting } from "./noting.js";

export class Steps extends Noting(DurableObject) {
  tasks = new Tasks({
    definitions: {
      "steps@v1": async ({ count, url }, step) => {
        for (let index = 1; index <= count; index += 1) {
          await step.do(`step-${index}`, async () => {
            if (url !== "") await fetch(`${url}/${index}`);
            return index;
          });
        }
        return count;
      },
    },
  });
  lifecycle = Lifecycle.install(this).use(this.tasks);

  async begin(input) {
    return (await this.tasks.run("steps@v1", input)).runId;
  }

  /** Runs to the end, without an event from outside. */
  async run(input) {
    this.forget();
    const runId = await this.begin(input);
    for (;;) {
      const { state } = await this.tasks.get(runId);
      if (state === "completed") return { rows: this.rows() };
      if (state === "failed") throw new Error("the run has failed");
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

export default {
  async fetch(request, { STEPS }) {
    const { do: method, name, ...input } = await request.json();
    return Response.json(await STEPS.getByName(name)[method](input));
  },
};
