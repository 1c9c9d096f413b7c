import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure, executor } from "a2a-edge";
import { testAgent } from "a2a-edge/testing";
import { insideOf } from "../../js/testing/agent.js";
import { makeOrders, pay } from "./orders.mjs";

/** An agent whose function is given. */
const agentOf = (execute, options) => testAgent(executor({ execute }), options);

test("what an executor returns is the artifact of a completed task", async () => {
  const agent = await agentOf((turn) => `you said: ${turn.text}`);
  const task = await agent.send("hello");
  assert.equal(task.state, "completed");
  assert.deepEqual(task.artifacts, { result: { text: "you said: hello", parts: [{ text: "you said: hello" }] } });
  assert.deepEqual(agent.task(), task);
});

test("an answer to a question continues the task, and a message after its end begins another one in its context", async () => {
  const agent = await agentOf((turn) => (/^\d+$/.test(turn.text) ? `a table for ${turn.text}` : turn.ask("For how many?")));
  const asked = await agent.send("a table");
  assert.deepEqual([asked.state, asked.text], ["input-required", "For how many?"]);
  const answered = await agent.send("4");
  assert.deepEqual([answered.id, answered.artifacts.result.text], [asked.id, "a table for 4"]);
  const next = await agent.send("5");
  assert.notEqual(next.id, asked.id);
  assert.equal(next.contextId, asked.contextId);
});

test("a reply is no task", async () => {
  const agent = await agentOf((turn) => turn.reply(`hello ${turn.text}`));
  const { state, text, artifacts } = await agent.send("Ada");
  assert.deepEqual({ state, text, artifacts }, { state: "replied", text: "hello Ada", artifacts: {} });
  assert.throws(() => agent.task(), /there is no task: the agent has replied with a message/);
});

test("a payment completes the order, also after a deploy", async () => {
  const agent = await makeOrders();
  const sent = await agent.send("a chair");
  assert.deepEqual([sent.state, sent.text], ["working", "ordered; waiting for the payment"]);
  await agent.crash();
  assert.equal(await pay(agent), true);
  assert.equal(agent.task().artifacts.result.text, "49 EUR");
  assert.equal(agent.fetched.length, 1);
  assert.equal(await pay(agent), false, "the callback is used");
});

test("nobody pays within a week", async () => {
  const agent = await makeOrders();
  await agent.send("a chair");
  assert.equal((await agent.pass("6 days")).state, "working");
  const { state, text } = await agent.pass("2 days");
  assert.deepEqual([state, text], ["failed", "nobody has paid within a week"]);
});

test("a crash before the outcome of a step is stored repeats the step, and no other one", async () => {
  const done = [];
  const agent = await agentOf(async (turn) => {
    for (const name of ["one", "two"]) await turn.step(name, () => void done.push(name));
    return "done";
  });
  await agent.crash("two");
  assert.equal((await agent.send("go")).state, "completed");
  assert.deepEqual(done, ["one", "two", "two"]);
});

test("a run that has ended by a crash does nothing more", async () => {
  const done = [];
  const agent = await agentOf(async (turn) => {
    try {
      await turn.step("wait", () => turn.fetch("https://slow.example/").then(() => {}));
      done.push("after");
    } catch {
      done.push("catch");
    } finally {
      done.push("finally");
    }
  }, { fetch: () => new Response() });
  await agent.crash("wait");
  await agent.send("go");
  assert.deepEqual(done, ["after", "finally"]);
});

test("the error of a function reaches the test as it was thrown, and the task has failed", async () => {
  class Bug extends TypeError {}
  const bug = new Bug("no such order");
  const fail = () => {
    throw bug;
  };
  for (const execute of [fail, async () => fail(), (turn) => turn.step("order", fail)]) {
    const agent = await agentOf(execute);
    await assert.rejects(agent.send("go"), (error) => error === bug);
    assert.equal(agent.task().state, "failed");
  }
});

test("an error that is found in what a function returns has a stack, too", async () => {
  const agent = await agentOf(() => ({ when: () => "later" }));
  await assert.rejects(agent.send("go"), (error) => error.message.includes("when") && error.stack.includes(error.message));
});

test("a promise that nobody awaits fails the run, and not the test", async () => {
  const agent = await agentOf(async (turn) => {
    turn.step("lost", async () => {
      throw new Error("lost in a step");
    });
    await turn.sleep("1 second");
    return "done";
  });
  await assert.rejects(agent.send("go"), /lost in a step/);
  assert.equal(agent.task().state, "failed");
});

test("a Failure fails the task with its text", async () => {
  const agent = await agentOf(() => {
    throw new Failure("closed on Sundays");
  });
  const { state, text } = await agent.send("go");
  assert.deepEqual([state, text], ["failed", "closed on Sundays"]);
});

test("a cancel ends the run, and onCancel is called", async () => {
  const heard = [];
  const agent = await testAgent(executor({
    async execute(turn) {
      turn.signal.addEventListener("abort", () => heard.push(turn.signal.reason.why));
      turn.working("at work");
      for (;;) await turn.sleep("20 seconds");
    },
    onCancel: () => void heard.push("onCancel"),
  }));
  assert.equal((await agent.send("go")).state, "working");
  assert.equal((await agent.cancel()).state, "canceled");
  assert.deepEqual(heard.sort(), ["canceled", "onCancel"]);
});

test("settings reach the turn, and ones that do not fit are refused in the words of an agent file", async () => {
  const schema = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => (typeof value.hall === "string" ? { value } : { issues: [{ message: "must be a text", path: ["hall"] }] }),
    },
  };
  const seats = executor({ settings: schema, execute: (turn) => `${turn.settings.hall} ${turn.settings.rows.join()}` });
  const agent = await testAgent(seats, { settings: { hall: "north \"1\"\n", rows: [1, 2.5] } });
  assert.equal((await agent.send("go")).artifacts.result.text, 'north "1"\n 1,2.5');
  await assert.rejects(testAgent(seats, { settings: { hall: 7 } }), /agents\/test\.toml:\d+: `executor\.tested\.hall` must be a text/);
  await assert.rejects(testAgent(seats, { settings: { hall: null } }), /settings\.hall is null, which an agent file cannot hold/);
});

test("secrets are read by name and kept out of what is said; env has the bindings of the test alone", async () => {
  const agent = await agentOf(async (turn) => {
    await turn.env.FILES.put("a", "b");
    return `${turn.secret("MODEL_KEY")} ${Object.keys(turn.env).join()}`;
  }, { secrets: { MODEL_KEY: "sk-0123456789abcdef" }, env: { FILES: { put: async () => {} } } });
  const { text } = (await agent.send("go")).artifacts.result;
  assert.doesNotMatch(text, /sk-0123456789abcdef/);
  assert.match(text, /FILES/);
  assert.doesNotMatch(text, /TASKS|DB|STATE_KEY|A2A_EDGE/);
});

test("an executor knows its caller", async () => {
  const told = ({ caller }) => ({ data: { id: caller.id, owner: caller.owner, may: caller.may("finance"), permissions: caller.permissions, session: caller.session ?? null } });
  const anonymous = await (await agentOf(told)).send("go");
  assert.equal(anonymous.artifacts.result.parts[0].data.id, "anonymous");
  const known = await agentOf(told, { caller: { id: "key:billing", owner: "@key:team-a", permissions: ["finance"], session: "s-1" } });
  assert.deepEqual((await known.send("go")).artifacts.result.parts[0].data, {
    id: "key:billing", owner: "@key:team-a", may: true, permissions: ["finance"], session: "s-1",
  });
  await assert.rejects(agentOf(told, { caller: { id: "billing" } }), /caller\.id is "billing": it must be the name of a scheme/);
});

test("credentials that the client sends are given to the turn", async () => {
  const agent = await agentOf(async (turn) => {
    const given = await turn.credentials();
    return given === undefined ? turn.askAuth("send a token") : `a token of ${given.token.length} letters`;
  });
  assert.equal((await agent.send("go")).state, "auth-required");
  const answered = await agent.send({ data: { token: "t-123456789" }, mediaType: "application/vnd.a2a-edge.credentials+json" });
  assert.equal(answered.artifacts.result.text, "a token of 11 letters");
});

test("metadata and accepted media types of a message reach the turn", async () => {
  const agent = await agentOf((turn) => ({ data: { metadata: turn.metadata, png: turn.accepts("image/png"), text: turn.accepts("text/plain") } }));
  const { artifacts } = await agent.send({ data: { a: 1 } }, { metadata: { "https://a.example/m": 7 }, acceptedOutputModes: ["text/plain", "application/json"] });
  assert.deepEqual(artifacts.result.parts[0].data, { metadata: { "https://a.example/m": 7 }, png: false, text: true });
});

test("a webhook gets the events of the task", async () => {
  const told = [];
  const agent = await agentOf((turn) => `to ${turn.text}`, {
    fetch: async (request) => {
      told.push([request.url, await request.json()]);
      return new Response(null, { status: 204 });
    },
  });
  await agent.send("you", { webhook: "https://hooks.example.com/a" });
  assert.ok(told.length > 0 && told.every(([url]) => url === "https://hooks.example.com/a"));
  assert.match(JSON.stringify(told), /TASK_STATE_COMPLETED/);
});

test("an unknown option, and a part that is none, are refused", async () => {
  await assert.rejects(agentOf(() => {}, { fetcher: () => {} }), /there is no option "fetcher"; there are: settings, secrets/);
  await assert.rejects(testAgent({}), /testAgent\(\) takes an executor/);
  await assert.rejects(agentOf(() => {}, { env: { DB: {} } }), /env\.DB belongs to a2a-edge/);
  const agent = await agentOf(() => {});
  await assert.rejects(agent.send(7), /7 is neither a text nor a part/);
  assert.throws(() => agent.task(), /there is no task yet: send a message first/);
});

test("nothing fails in the engine: neither D1 nor a queue nor an alarm", async () => {
  const agent = await makeOrders();
  await agent.send("a chair");
  await agent.crash();
  await pay(agent);
  await agent.pass("3 days");
  const { log } = insideOf(agent).platform;
  assert.ok(log.length > 0);
  assert.deepEqual(log.filter((line) => /failed|error|attempt \d+, next in|not in the index/i.test(line)), []);
});

test("two agents at the same time have nothing in common", async () => {
  const make = (name) => agentOf(async (turn) => {
    await turn.step("pause", () => turn.sleep("10 seconds"));
    return `${name} ${turn.text} ${turn.env.NAME}`;
  }, { env: { NAME: name } });
  const [one, other] = await Promise.all([make("one"), make("other")]);
  await one.crash("pause");
  const tasks = await Promise.all([one.send("a"), other.send("b")]);
  assert.deepEqual(tasks.map(({ artifacts }) => artifacts.result.text), ["one a one", "other b other"]);
});
