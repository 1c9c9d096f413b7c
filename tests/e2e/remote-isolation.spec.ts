// Callers of an agent of kind "remote": a task of one caller does not exist for another, neither here nor at the remote
// agent.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { followUp, message, until, type Agent, type Task } from "./client.ts";
import { fresh } from "./access.ts";
import { artifact, Liars, status, task } from "./liars.ts";

const [annasKey, bertsKey] = [fresh(), fresh()];

/** A server that asks questions, and distinguishes conversations of its only caller by `contextId` and `taskId` alone. */
const liars = new Liars(
  {
    shared: {
      answer: ({ method, params, before }, reply) => {
        if (method !== "SendStreamingMessage") return false;
        const id = params.message?.taskId ?? `r-${before}`;
        if (params.message?.taskId !== undefined) return reply.stream([{ task: task(id, "WORKING") }, artifact(id, "done"), status(id, "COMPLETED")]);
        return reply.stream([{ task: task(id, "WORKING") }, status(id, "INPUT_REQUIRED", "which?")]);
      },
      access: {
        schemes: { key: { kind: "api_key", name: "X-Key", callers: [{ id: "anna", secrets: ["ANNAS_KEY"] }, { id: "bert", secrets: ["BERTS_KEY"] }] } },
      },
    },
  },
  { ANNAS_KEY: annasKey, BERTS_KEY: bertsKey },
);

let anna: Agent;
let bert: Agent;
before(async () => {
  await liars.start();
  anna = liars.agent("shared", { "x-key": annasKey });
  bert = liars.agent("shared", { "x-key": bertsKey });
});
after(() => liars.stop());

const begun = (): Promise<Task> => anna.sendForTask("hello");

describe("a task of another caller", () => {
  test("is not found by any operation, and the remote agent hears of none (§13.1)", async () => {
    const theirs = await begun();
    assert.equal(theirs.status.state, "TASK_STATE_INPUT_REQUIRED");
    const calls = liars.asked("shared").length;
    for (const attempt of [
      () => bert.getTask(theirs.id),
      () => bert.cancelTask(theirs.id),
      () => bert.send(followUp(theirs, "that one")),
      () => bert.call("SubscribeToTask", { id: theirs.id }),
    ]) {
      await assert.rejects(attempt, { code: -32001 });
    }
    assert.equal(liars.asked("shared").length, calls);
    assert.deepEqual((await bert.listTasks()).tasks, []);
    assert.equal((await anna.sendForTask(followUp(theirs, "this one"))).status.state, "TASK_STATE_COMPLETED");
  });

  test("is not found by the id that it has at the remote agent (§13.1)", async () => {
    await begun();
    const ids = liars.asked("shared").map((_, at) => `r-${at}`);
    for (const id of ids) for (const agent of [anna, bert]) await assert.rejects(agent.getTask(id), { code: -32001 });
  });
});

describe("a conversation of another caller", () => {
  test("is another one at the remote agent, also under the same id (§3.4.1)", async () => {
    const contextId = "the-same";
    const contexts: (string | undefined)[] = [];
    for (const agent of [anna, anna, bert]) {
      await agent.sendForTask({ ...message("hello"), contextId });
      contexts.push(liars.asked("shared").at(-1)?.params.message?.contextId);
    }
    const [first, again, other] = contexts;
    assert.equal(first, again, "one conversation of one caller stays one");
    assert.notEqual(first, other);
    assert.ok(contexts.every((id) => id !== undefined && id !== contextId));
  });

  test("nobody can name the conversation of the remote agent (§3.4.1)", async () => {
    const theirs = await begun();
    const remote = liars.asked("shared").at(-1)?.params.message?.contextId;
    await bert.sendForTask({ ...message("hello"), contextId: remote ?? "" });
    await until(() => Promise.resolve(liars.asked("shared").at(-1)?.params.message?.contextId), (id) => id !== undefined);
    assert.notEqual(liars.asked("shared").at(-1)?.params.message?.contextId, remote);
    assert.notEqual(theirs.contextId, remote);
  });
});

test("the remote agent is shown the credentials of its settings, and none of the caller's", async () => {
  await begun();
  const heard = JSON.stringify(liars.asked("shared"));
  for (const key of [annasKey, bertsKey]) assert.ok(!heard.includes(key));
});
