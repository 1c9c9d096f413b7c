import assert from "node:assert/strict";
import { test } from "node:test";
import { executor } from "a2a-edge";
import { survivesCrashes, testAgent } from "a2a-edge/testing";
import { makeOrders, pay } from "./orders.mjs";

const shop = { fetch: () => new Response("12") };

/** Makes agents whose function is given, with a shop that answers everything. */
const making = (execute) => () => testAgent(executor({ execute }), shop);

const send = (agent) => agent.send("a chair");

const post = (turn, init) => turn.fetch("https://shop.example/orders", { method: "POST", body: turn.text, ...init });

test("an executor with its effects in steps survives a crash at each place", async () => {
  const made = [];
  const make = async () => {
    made.push(await makeOrders());
    return made.at(-1);
  };
  const { places, crashes } = await survivesCrashes(make, async (agent) => {
    await send(agent);
    await pay(agent);
    assert.equal(agent.task().artifacts.result.text, "49 EUR");
  });
  assert.ok(places > 8, `${places} places`);
  assert.equal(crashes, places);
  assert.equal(made.length, places + 1);
  const orders = made.map((agent) => agent.shop.orders.length);
  assert.equal(orders[0], 1);
  assert.ok(orders.every((count) => count === 1 || count === 2) && orders.includes(2), "only the step under way is done twice");
});

test("streams, waits, several steps at once and questions survive", async () => {
  const make = making(async function (turn) {
    if (turn.number === 1) return turn.ask("For how many?");
    await Promise.all(["one", "two"].map((name) => turn.step(name, () => post(turn).then(() => {}))));
    await turn.wait("2 days");
    await turn.write((async function* () {
      for (const word of ["a ", "table ", "for ", turn.text]) {
        yield word;
        await turn.sleep(100);
      }
    })(), { id: "text" });
    return { data: { done: true } };
  });
  await survivesCrashes(make, async (agent) => {
    assert.equal((await send(agent)).state, "input-required");
    await agent.send("4");
    const { state, artifacts } = await agent.pass("3 days");
    assert.deepEqual([state, artifacts.text.text, artifacts.result.text], ["completed", "a table for 4", '{"done":true}']);
  });
});

test("an effect outside of steps is found", async () => {
  const make = making(async (turn) => {
    await post(turn);
    await turn.step("note", () => {});
    return "ordered";
  });
  await assert.rejects(survivesCrashes(make, send), (error) => {
    assert.match(error.message, /^survivesCrashes: with a crash .* \(place \d+ of \d+\) POST https:\/\/shop\.example\/orders of .* is sent 2 times/);
    assert.match(error.message, /instead of once\. It is in no step/);
    return true;
  });
  const mayRepeat = ({ method, url }) => method === "POST" && url === "https://shop.example/orders";
  assert.ok((await survivesCrashes(make, send, { mayRepeat })).crashes > 0);
  const reads = making(async (turn) => `seats: ${await (await turn.fetch("https://shop.example/seats")).text()}`);
  assert.ok((await survivesCrashes(reads, send)).crashes > 0, "what only reads may be repeated");
});

test("a step whose name is another one in each attempt is found", async () => {
  const make = making(async (turn) => {
    await turn.step(`order ${turn.attempt}`, () => post(turn).then(() => {}));
    await turn.step("mail", () => {});
    return "ordered";
  });
  const wrong = /steps are done that are not done without it: "order 2" \(1\) of .*must be the same in each attempt/;
  await assert.rejects(survivesCrashes(make, send), wrong);
});

test("a result that depends on the attempt is found, with the place and both results", async () => {
  const make = making(async (turn) => {
    await turn.step("order", () => {});
    return `attempt ${turn.attempt}`;
  });
  await assert.rejects(survivesCrashes(make, send), (error) => {
    assert.equal(error.name, "AssertionError");
    assert.match(error.message, /with a crash before the work of the step "order" \(place 2 of \d+\) the result differs\.[^]*expected:[^]*attempt 1[^]*actual:[^]*attempt 2/);
    assert.deepEqual(error.actual.map(({ artifacts }) => artifacts.result.text), ["attempt 2"]);
    assert.deepEqual(error.expected.map(({ artifacts }) => artifacts.result.text), ["attempt 1"]);
    return true;
  });
});

test("a result that differs without a crash, too, is told apart", async () => {
  const make = making(async (turn) => {
    await turn.step("order", () => {});
    return String(Math.random());
  });
  await assert.rejects(survivesCrashes(make, send), /the result differs from run to run, also without a crash/);
});

test("an assertion of the scenario that fails behind a crash names the place", async () => {
  const make = making(async (turn) => {
    if (turn.attempt > 1) throw new Error("not again");
    await turn.step("order", () => {});
    return "ordered";
  });
  await assert.rejects(survivesCrashes(make, send), (error) => {
    assert.match(error.message, /with a crash before the work of the step "order" .* the scenario fails: not again/);
    assert.equal(error.cause.message, "not again");
    assert.match(error.stack, /crashes\.test\.mjs/);
    return true;
  });
});

test("what fails without a crash fails as it is", async () => {
  await assert.rejects(survivesCrashes(making(() => "ordered"), () => assert.fail("wrong")), { name: "AssertionError", message: "wrong" });
  await assert.rejects(survivesCrashes(making(() => "ordered"), () => {}), /the scenario does nothing with the agent/);
  await assert.rejects(survivesCrashes(async () => ({}), () => {}), /this is no agent of testAgent\(\)/);
});

test("there are no more crashes than the limit", async () => {
  let made = 0;
  const make = () => {
    made += 1;
    return making(async (turn) => {
      for (let nth = 0; nth < 5; nth += 1) await turn.step("step", () => {});
    })();
  };
  const { places, crashes } = await survivesCrashes(make, send, { limit: 4 });
  assert.ok(places > 10);
  assert.deepEqual([crashes, made], [4, 5]);
});
