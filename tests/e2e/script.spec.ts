// A scripted agent: each rule of tests/agents/demo.toml.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, textOf, untilEnded } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker();
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

for (const [text, state, said] of [
  ["fail", "TASK_STATE_FAILED", "It did not work, as you wished."],
  ["reject", "TASK_STATE_REJECTED", "I would rather not."],
  ["ask", "TASK_STATE_INPUT_REQUIRED", "Which colour?"],
  ["auth", "TASK_STATE_AUTH_REQUIRED", "Please sign in and say so."],
] as const) {
  test(`"${text}" leads to ${state} with a message of the agent (§4.1.3)`, async () => {
    const task = await demo.sendForTask(text);
    assert.equal(task.status.state, state);
    assert.equal(task.status.message?.role, "ROLE_AGENT");
    assert.equal(task.status.message?.taskId, task.id);
    assert.equal(task.status.message?.contextId, task.contextId);
    assert.equal(textOf(task.status.message), said);
    assert.equal(task.artifacts, undefined);
  });
}

test('"auth" goes on with the next message (§4.1.3)', async () => {
  const task = await demo.sendForTask(followUp(await demo.sendForTask("auth"), "signed in"));
  assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  assert.equal(textOf(task.status.message), "Thank you.");
});

test('"chunks" gives one artifact of three parts (§4.2.2)', async () => {
  const task = await demo.sendForTask("chunks");
  assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  assert.deepEqual(task.artifacts, [
    { artifactId: "poem", name: "poem", parts: [{ text: "one " }, { text: "two " }, { text: "three" }] },
  ]);
});

test('"polls" works until it was asked for three times (§3.1.3)', async () => {
  const begun = await demo.sendForTask("polls", { returnImmediately: true });
  const first = await demo.getTask(begun.id);
  assert.equal(first.status.state, "TASK_STATE_WORKING");
  assert.equal(textOf(first.status.message), "Ask three times.");
  assert.equal((await demo.getTask(begun.id)).status.state, "TASK_STATE_WORKING");

  const ended = await untilEnded(demo, begun.id);
  assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
  assert.equal(textOf(ended.status.message), "Thank you for asking.");
});

test('"polls" is not hurried by anything but GetTask (§3.1.3)', async () => {
  const begun = await demo.sendForTask("polls", { returnImmediately: true });
  for (let times = 0; times < 3; times++) {
    const task = await demo.sendForTask(followUp(begun, "now?"), { returnImmediately: true });
    assert.equal(task.status.state, "TASK_STATE_WORKING");
  }
  const first = await demo.getTask(begun.id);
  assert.equal(first.status.state, "TASK_STATE_WORKING");
  // A message to a working task is offered to the current run.
  assert.deepEqual(first.history?.map(textOf).filter((text) => text === "now?").length, 3);
  await demo.cancelTask(begun.id);
});

describe("rules", () => {
  for (const [text, artifact] of [
    ["hold 1", "hold 1"],
    ["hold 1 ", "hold 1 "],
    ["hold", "hold"],
    ["HOLD 1", "HOLD 1"],
    ["ask me", "ask me"],
    [" fail", " fail"],
    ["messages", "messages"],
  ] as const) {
    test(`"${text}" is given back as it is`, async () => {
      const task = await demo.sendForTask(text);
      assert.equal(task.status.state, "TASK_STATE_COMPLETED");
      assert.equal(textOf(task.artifacts?.[0]), artifact);
    });
  }

  for (const [answer, colour] of [["red", "red"], ["GREEN", "GREEN"], ["Blue", "Blue"]] as const) {
    test(`"${answer}" is a colour in the answer to "ask"`, async () => {
      const task = await demo.sendForTask(followUp(await demo.sendForTask("ask"), answer));
      assert.equal(task.status.state, "TASK_STATE_COMPLETED");
      assert.equal(textOf(task.artifacts?.[0]), colour);
      assert.equal(textOf(task.status.message), `You chose ${colour}.`);
    });
  }

  describe("that ask until the answer is right", () => {
    const answers = ["4", "help", "4", "is it 8?", "9"];
    const questions = ["No, not 4.", "It is below ten. Another hint?", "No, not 4.", "A number, please.", "No, not 9."];

    test("stay from turn to turn, and so do those of a question within (§3.4.3)", async () => {
      const asked = await demo.sendForTask("guess");
      for (const [turn, answer] of answers.entries()) {
        const task = await demo.sendForTask(followUp(asked, answer));
        assert.equal(task.status.state, "TASK_STATE_INPUT_REQUIRED", answer);
        assert.equal(textOf(task.status.message), questions[turn], answer);
      }
      assert.equal(textOf((await demo.sendForTask(followUp(asked, "help"))).status.message), questions[1]);
      const hinted = await demo.sendForTask(followUp(asked, "yes"));
      assert.equal(textOf(hinted.status.message), "It is above five.");
      const task = await demo.sendForTask(followUp(asked, "7"));
      assert.equal(task.status.state, "TASK_STATE_COMPLETED");
      assert.equal(textOf(task.status.message), "7 it is.");
    });

    test("stay when the object forgets all but the task (§3.4.3)", async () => {
      const asked = await demo.sendForTask("guess");
      for (const lose of [() => worker.restart(), () => worker.evict(asked.id)]) {
        for (const answer of ["1", "help"]) await demo.sendForTask(followUp(asked, answer));
        await lose();
        assert.equal(textOf((await demo.sendForTask(followUp(asked, "yes"))).status.message), "It is above five.");
        await lose();
        assert.equal(textOf((await demo.sendForTask(followUp(asked, "2"))).status.message), "No, not 2.");
      }
      assert.equal((await demo.sendForTask(followUp(asked, "7"))).status.state, "TASK_STATE_COMPLETED");
    });
  });

  test("texts of several parts are one text", async () => {
    const task = await demo.sendForTask({ parts: [{ text: "one" }, { data: 1 }, { text: "two" }] });
    assert.equal(textOf(task.artifacts?.[0]), "one\ntwo");
  });

  test("a message without text is given back as an empty one", async () => {
    const task = await demo.sendForTask({ parts: [{ url: "https://files.example/a" }] });
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(task.artifacts?.[0]?.parts, [{ text: "" }]);
  });
});
