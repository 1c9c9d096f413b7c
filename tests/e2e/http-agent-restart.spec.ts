// An agent of kind "http" whose program is down for a while, for example during a restart: the task waits for it, first in memory
// and then parked, even if the Worker is killed meanwhile. Further cases: tests/all/http_agent/outages.rs.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { freePort } from "../../scripts/lib/port.mjs";
import { rest } from "./answers.ts";
import { Agent, textOf, until, untilEnded } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { AgentServer, lines, withHttpAgents } from "./http-agents.ts";
import { type Entry, type Timeline } from "./timelines.ts";

/** The agents, and the ports of their programs, at which no program listens. */
const ports: Record<string, number> = { late: 0, killed: 0, canceled: 0, gone: 0 };

let worker: Worker;
const servers: AgentServer[] = [];
before(async () => {
  const tables: Record<string, object> = {};
  for (const slug of Object.keys(ports)) {
    const port = await freePort();
    ports[slug] = port;
    tables[slug] = { url: `http://127.0.0.1:${port}/turn?key=k3y`, ...(slug === "gone" ? { unreachable_wait_ms: 1_500 } : {}) };
  }
  worker = await startWorker({ vars: { AGENTS: withHttpAgents(tables) } });
});
after(async () => {
  await worker?.stop();
  for (const { close } of servers) close();
});

/** Starts the program of an agent. */
async function start(slug: string): Promise<AgentServer> {
  const server = await AgentServer.open((_, response) => lines(response, { do: "artifact", text: "here I am" }, { do: "complete" }), ports[slug]);
  servers.push(server);
  return server;
}

/** The parked waits in a task's timeline. */
async function parks(slug: string, id: string): Promise<Entry[]> {
  const { entries } = (await rest(`${worker.url}/${slug}/tasks/${id}/timeline?pageSize=100`, "GET")).result as unknown as Timeline;
  return entries.filter(({ kind }) => kind === "parked");
}

/** Calls an agent whose program is down, and waits until the task is parked. */
async function askInVain(slug: string): Promise<{ agent: Agent; id: string }> {
  const agent = new Agent(`${worker.url}/${slug}`);
  const { id } = await agent.sendForTask("go", { returnImmediately: true });
  const [park] = await until(() => parks(slug, id), ({ length }) => length > 0);
  assert.equal(park?.unanswered?.times, 5, "it was asked in memory before");
  assert.equal((await agent.getTask(id)).status.state, "TASK_STATE_WORKING");
  return { agent, id };
}

describe("an agent whose program is down", () => {
  test("is waited for: a program that is started late answers once", async () => {
    const { agent, id } = await askInVain("late");
    const server = await start("late");
    const task = await untilEnded(agent, id);
    assert.deepEqual([task.status.state, task.artifacts?.map(textOf)], ["TASK_STATE_COMPLETED", ["here I am"]]);
    assert.deepEqual(server.of(id).map(({ turn }) => [turn.turn, turn.attempt, turn.resumes]), [[1, 6, false]]);
    assert.equal((await parks("late", id)).length, 1);
  });

  test("is waited for across a kill, with the count and the time that are left", async () => {
    const { agent, id } = await askInVain("killed");
    await worker.kill9();
    await worker.restart();
    const [first, second] = await until(() => parks("killed", id), ({ length }) => length > 1);
    assert.deepEqual([first?.unanswered?.times, second?.unanswered?.times], [5, 6]);
    assert.equal(second?.unanswered?.since, first?.unanswered?.since);
    const server = await start("killed");
    assert.equal((await untilEnded(agent, id)).status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(server.of(id).map(({ turn }) => [turn.attempt, turn.resumes]), [[7, false]]);
  });

  test("is not asked again behind a cancel (§3.1.5)", async () => {
    const { agent, id } = await askInVain("canceled");
    const server = await start("canceled");
    const [park] = await parks("canceled", id);
    assert.equal((await agent.cancelTask(id)).status.state, "TASK_STATE_CANCELED");
    await until(async () => Date.now(), (now) => now > (park?.until ?? Infinity) + 500);
    assert.deepEqual(server.of(id), []);
  });

  test("fails its task when it stays down, and says why", async () => {
    const agent = new Agent(`${worker.url}/gone`);
    const { status } = await agent.sendForTask("go");
    assert.equal(status.state, "TASK_STATE_FAILED");
    const told = new RegExp(`^the agent's program at 127\\.0\\.0\\.1:${ports["gone"]} refused or lost the connection, 4 times in [23] s; is it running\\?$`);
    assert.match(textOf(status.message) ?? "", told);
  });
});
