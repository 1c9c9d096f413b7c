import { executor } from "a2a-edge";

export const archive = executor({
  async execute(turn) {
    const { FILES } = turn.env;
    const folder = `${turn.caller.owner}/`;
    await turn.step("store", async () => {
      await FILES.put(`${folder}${turn.taskId}.json`, JSON.stringify(turn.data ?? turn.text));
    });
    const { objects } = await FILES.list({ prefix: folder });
    return { data: objects.map(({ key, size }) => ({ key, size })) };
  },
});
