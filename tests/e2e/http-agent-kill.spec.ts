// An agent of kind "http" whose Worker is killed in the middle of an answer: the program is called again, answers differently each
// time, and the task contains exactly one answer. Kills between any two polls: tests/all/http_agent_recovery.rs.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, textOf, until, untilEnded, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { AgentServer, events, withHttpAgents, type Asked } from "./http-agents.ts";

/** After how many verbs the program stops, in its first answer to each turn. */
const STOPS = [0, 1, 2, 3, 4];

let server: AgentServer, worker: Worker, agent: Agent;
const attempts = (asked: Asked): number => server.of(asked.turn.taskId).filter(({ turn }) => turn.turn === asked.turn.turn).length;

before(async () => {
  server = await AgentServer.open(async (asked, response) => {
    const [nth, stop] = [attempts(asked), Number(/stop (\d)/.exec(asked.text)?.[1] ?? 9)];
    const verbs = [
      { do: "working", text: `${nth} begins` },
      { do: "artifact", id: "poem", text: `${nth} roses `, more: true },
      { do: "append", text: `${nth} are ` },
      { do: "append", text: `${nth} red`, last: true },
      { do: asked.text.startsWith("ask") ? "input_required" : "complete", text: `${nth} ends` },
    ];
    if (nth > 1) return events(response, ...verbs), response.end();
    events(response);
    response.flushHeaders();
    events(response, ...verbs.slice(0, stop));
    if (stop >= verbs.length) response.end();
    return undefined;
  });
  const vars = { AGENTS: withHttpAgents({ poet: { url: server.url, event_interval_ms: 0 }, once: { url: server.url } }), KEEP_ALIVE_MS: "1000" };
  const { agents, ...rest } = JSON.parse(vars.AGENTS) as { agents: { slug: string; executor: { run: object } }[] };
  for (const { slug, executor } of agents) if (slug === "once") executor.run = { recovery: "fail" };
  worker = await startWorker({ vars: { ...vars, AGENTS: JSON.stringify({ ...rest, agents }) } });
  agent = new Agent(`${worker.url}/poet`);
});
after(async () => {
  await worker?.stop();
  server?.close();
});

async function killAndRestart(): Promise<void> {
  await worker.kill9();
  await worker.restart();
}

/** True if a task shows this number of verbs. */
const seen = (verbs: number) => ({ status, artifacts }: Task): boolean =>
  verbs === 0 || (verbs === 1 ? textOf(status.message) === "1 begins" : textOf(artifacts?.[0]) === ["1 roses ", "1 roses 1 are ", "1 roses 1 are 1 red"][verbs - 2]);

describe("a Worker that is killed", () => {
  for (const stop of STOPS) {
    test(`behind ${stop} verbs asks again, and the task holds the second answer`, async () => {
      const { id } = await agent.sendForTask(`stop ${stop}`, { returnImmediately: true });
      await until(async () => server.of(id).length, (count) => count === 1);
      await until(() => agent.getTask(id), seen(stop));
      await killAndRestart();
      const task = await untilEnded(agent, id);
      assert.deepEqual([task.status.state, textOf(task.status.message)], ["TASK_STATE_COMPLETED", "2 ends"]);
      assert.deepEqual(task.artifacts?.map(textOf), ["2 roses 2 are 2 red"]);
      const [first, second, ...others] = server.of(id);
      assert.deepEqual(others, []);
      assert.equal(second?.headers["idempotency-key"], first?.headers["idempotency-key"]);
      assert.deepEqual([second?.turn.attempt, second?.turn.resumes], [2, true]);
      const said = second?.turn.task?.artifacts?.map(textOf).join() ?? "";
      assert.equal(said, ["", "", "1 roses ", "1 roses 1 are ", "1 roses 1 are 1 red"][stop], "it is told what was said");
    });
  }

  test("behind the end does not ask again, and the next turn is asked for once", async () => {
    const { id } = await agent.sendForTask("ask");
    await killAndRestart();
    const asking = await agent.getTask(id);
    assert.equal(asking.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.equal((await agent.sendForTask(followUp(asking, "go on"))).status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(server.of(id).map(({ turn }) => [turn.turn, turn.attempt]), [[1, 1], [2, 1]]);
  });

  test("asks no second time where the agent file says so", async () => {
    const once = new Agent(`${worker.url}/once`);
    const { id } = await once.sendForTask("stop 2", { returnImmediately: true });
    await until(async () => server.of(id).length, (count) => count === 1);
    await until(() => once.getTask(id), ({ artifacts }) => artifacts !== undefined);
    await killAndRestart();
    assert.equal((await untilEnded(once, id)).status.state, "TASK_STATE_FAILED");
    assert.equal(server.of(id).length, 1);
  });
});
