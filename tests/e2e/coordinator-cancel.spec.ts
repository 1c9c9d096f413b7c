// A cancel reaches the task of every agent that works or waits for the canceled task: of the same Worker, of another Worker, and behind a front.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Agent } from "./client.ts";
import { call, say } from "./model-server.ts";
import { nothingIsLeft, unfinished, withTeam } from "./teams.ts";

const leaders = ["sleeper", "asker", "signer"].flatMap((slug) => [slug, `far-${slug}`, `front-${slug}`]);
const team = withTeam(Object.fromEntries(leaders.map((agent) => [`leader-of-${agent}`, [agent]])));

/** For a name that a coordinator calls: its tool, and the agents that then have a task; the last one is the scripted agent. */
function chain(name: string): { tool: string; agents: Agent[] } {
  const slug = name.replace(/^(far|front)-/, "");
  if (name.startsWith("front-")) return { tool: `front_${slug}`, agents: [team.of(name), team.far(slug)] };
  return { tool: slug, agents: [name.startsWith("far-") ? team.far(slug) : team.of(slug)] };
}

async function assertCanceled(agents: Agent[], ids: string[]): Promise<void> {
  await nothingIsLeft(...agents);
  for (const [nth, agent] of agents.entries()) assert.equal((await agent.getTask(ids[nth] ?? "none")).status.state, "TASK_STATE_CANCELED", agent.endpoint);
}

for (const [kind, prefix] of [["of the same Worker", ""], ["elsewhere", "far-"], ["of kind `remote`", "front-"]] as const) {
  describe(`a cancel of a coordinator whose agent is ${kind}`, () => {
    test("ends the task on which the agent works (§3.1.5)", async () => {
      const name = `${prefix}sleeper`;
      const { tool, agents } = chain(name);
      team.model.answers(call(tool, { prompt: "sleep" }), say("never said"));
      const before = team.model.asked.length;
      const { id } = await team.of(`leader-of-${name}`).sendForTask("sleep", { returnImmediately: true });
      const ids = [];
      for (const agent of agents) ids.push((await unfinished(agent, "TASK_STATE_WORKING")).id);
      assert.equal((await team.of(`leader-of-${name}`).cancelTask(id)).status.state, "TASK_STATE_CANCELED");
      await assertCanceled(agents, ids);
      assert.equal(team.model.asked.length, before + 1, "the model is asked nothing more");
    });

    for (const [asking, state] of [["asker", "INPUT_REQUIRED"], ["signer", "AUTH_REQUIRED"]] as const) {
      test(`ends the task that waits for ${asking === "asker" ? "an answer" : "credentials"} (§3.1.5)`, async () => {
        const name = `${prefix}${asking}`;
        const { tool, agents } = chain(name);
        const leader = team.of(`leader-of-${name}`);
        team.model.answers(call(tool, { prompt: "go" }), call("ask_user", { question: "What shall I say?" }));
        const asked = await leader.sendForTask("go");
        assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
        const ids = [];
        for (const agent of agents) ids.push((await unfinished(agent, `TASK_STATE_${state}`)).id);
        assert.equal((await leader.cancelTask(asked.id)).status.state, "TASK_STATE_CANCELED");
        await assertCanceled(agents, ids);
      });
    }
  });
}

describe("a cancel of a front of a remote agent", () => {
  for (const [asking, state] of [["asker", "INPUT_REQUIRED"], ["signer", "AUTH_REQUIRED"]] as const) {
    test(`ends the remote task that waits for ${asking === "asker" ? "an answer" : "credentials"} (§3.1.5)`, async () => {
      const front = team.of(`front-${asking}`);
      const asked = await front.sendForTask("go");
      assert.equal(asked.status.state, `TASK_STATE_${state}`);
      const { id } = await unfinished(team.far(asking), `TASK_STATE_${state}`);
      assert.equal((await front.cancelTask(asked.id)).status.state, "TASK_STATE_CANCELED");
      await assertCanceled([front, team.far(asking)], [asked.id, id]);
    });
  }
});

test("a cancel of one task of a coordinator leaves the others alone", async () => {
  const [leader, asker] = [team.of("leader-of-asker"), team.of("asker")];
  const ask = async () => {
    team.model.answers(call("asker", { prompt: "go" }), call("ask_user", { question: "What shall I say?" }));
    return leader.sendForTask("go");
  };
  const first = await ask();
  const { id } = await unfinished(asker, "TASK_STATE_INPUT_REQUIRED");
  const second = await ask();
  await leader.cancelTask(second.id);
  const left = await unfinished(asker, "TASK_STATE_INPUT_REQUIRED");
  assert.equal(left.id, id);
  await leader.cancelTask(first.id);
  await assertCanceled([asker], [id]);
});
