import assert from "node:assert/strict";
import { test } from "node:test";
import { executor } from "a2a-edge";
import { survivesCrashes, testAgent } from "a2a-edge/testing";

const trip = executor({
  async execute(turn) {
    const [rain, room] = await Promise.all([turn.remote("weather").send(`Rain in ${turn.text}?`), turn.remote("hotels").send(turn.text)]);
    return room.outcome === "input-required" ? turn.ask(room.text) : `${rain.text} ${room.text}`;
  },
});

/** Remote agents that note what they are asked. */
function remotes(asked) {
  return {
    weather: ({ parts }) => {
      asked.push(parts[0].text);
      return "no rain";
    },
    hotels: ({ parts }) => {
      asked.push(parts[0].text);
      return parts[0].text === "Lisbon" ? { state: "input-required", text: "For how many nights?" } : "a room";
    },
  };
}

test("remote agents are asked by the client of the engine", async () => {
  const asked = [];
  const agent = await testAgent(trip, { remotes: remotes(asked) });
  const question = await agent.send("Lisbon");
  assert.deepEqual([question.state, question.text], ["input-required", "For how many nights?"]);
  assert.equal((await agent.send("Porto")).artifacts.result.text, "no rain a room");
  assert.deepEqual(asked.sort(), ["Lisbon", "Porto", "Rain in Lisbon?", "Rain in Porto?"]);
  assert.deepEqual(agent.fetched, [], "they are no requests to others");
});

test("how a remote task ends is told: failed, by an error, with data", async () => {
  const outcomes = executor({
    async execute(turn) {
      const { outcome, text, task } = await turn.remote(turn.text).send({ data: { n: 1 } });
      return { data: { outcome, text, parts: task.artifacts?.[0]?.parts ?? null } };
    },
  });
  const told = async (remote) => (await (await testAgent(outcomes, { remotes: { other: remote } })).send("other")).artifacts.result.parts[0].data;
  assert.deepEqual(await told(() => ({ state: "failed", text: "closed" })), { outcome: "failed", text: "closed", parts: null });
  assert.deepEqual(await told(() => { throw new Error("broken"); }), { outcome: "failed", text: "broken", parts: null });
  const answered = await told(({ parts }) => [{ text: "one" }, { data: parts[0].data }]);
  assert.deepEqual([answered.outcome, answered.parts], ["completed", [{ text: "one" }, { data: { n: 1 } }]]);
});

test("a question of a remote agent is answered in its task", async () => {
  const relay = executor({
    async execute(turn) {
      const known = await turn.step("task", () => null);
      assert.equal(known, null);
      const first = await turn.remote("hotels").send("a room");
      const second = await turn.remote("hotels").send("2", { taskId: first.task.id });
      return `${first.text} ${second.text}`;
    },
  });
  const tasks = [];
  const agent = await testAgent(relay, {
    remotes: {
      hotels: ({ parts, taskId }) => {
        tasks.push(taskId);
        return taskId ? `${parts[0].text} nights` : { state: "input-required", text: "How many?" };
      },
    },
  });
  assert.equal((await agent.send("go")).artifacts.result.text, "How many? 2 nights");
  assert.ok(tasks[0] === undefined && tasks[1] !== undefined);
});

test("no crash asks a remote agent twice", async () => {
  const all = [];
  const make = () => {
    all.push([]);
    return testAgent(trip, { remotes: remotes(all.at(-1)) });
  };
  const { places } = await survivesCrashes(make, (agent) => agent.send("Porto"));
  assert.ok(places > 10);
  for (const asked of all) assert.deepEqual(asked.sort(), ["Porto", "Rain in Porto?"]);
});

test("a name that remotes.toml cannot have is refused by the checker", async () => {
  await assert.rejects(testAgent(trip, { remotes: { "My Hotels": () => "" } }), /remotes\.toml/);
});
