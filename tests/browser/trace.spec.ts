// A task as a trace: turns, requests to models, calls and tasks of other agents on one time axis; what a row opens; the log beside it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, until, untilEnded } from "../e2e/client.ts";
import { withCoordinators } from "../e2e/coordinators.ts";
import { calls, held, ModelServer, say } from "../e2e/model-server.ts";
import { withVariants } from "../e2e/models.ts";
import { Sink } from "../e2e/sink.ts";
import { startConsole, type Console } from "./console.ts";
import type { View } from "./view.ts";

let app: Console;
let model: ModelServer;
let sink: Sink;
before(async () => {
  [model, sink] = await Promise.all([ModelServer.start(), Sink.open()]);
  const price = { price: { input: 1, output: 2 } };
  app = await startConsole({ vars: { AGENTS: withCoordinators(withVariants({ priced: { table: price } })), KEEP_ALIVE_MS: "1000", NEXT_URL: "http://127.0.0.1:9", MODEL_URL: model.url, MODEL_KEY: "key", SINK: sink.url } });
});
after(async () => {
  await app?.stop();
  model?.stop();
  sink?.close();
});

const of = (slug: string): Agent => new Agent(`${app.worker.url}/${slug}`);
/** The rows of the trace, from the top: their depths and words, without durations. */
const rows = (view: View): Promise<string[]> =>
  view.page.$$eval(".span-open", (all) => all.map((one) => {
    const depth = getComputedStyle(one.closest(".span-row")!).getPropertyValue("--depth");
    return `${depth} ${one.querySelector(".span-name")!.textContent.trim()}`;
  }));
/** The places of the bars of a row, as parts of the axis. */
const bars = (view: View, name: string): Promise<[number, number][]> =>
  view.page.$$eval(".span-open", (all, wanted) => {
    const row = all.find((one) => one.querySelector(".span-name")!.textContent.includes(wanted));
    const track = row!.querySelector(".span-track")!.getBoundingClientRect();
    return [...row!.querySelectorAll(".bar")].map((bar) => bar.getBoundingClientRect()).map((bar): [number, number] => [(bar.left - track.left) / track.width, (bar.right - track.left) / track.width]);
  }, name);
const opens = async (view: View, name: RegExp): Promise<string> => {
  await view.click("button", name);
  return view.text(await view.find("group", /^Details of/));
};

test("calls that ran at once stand side by side below the request that made them, and a row opens what it was given and came to", async () => {
  sink.plan("/orders/tea", "hold");
  sink.plan("/orders/milk", { status: 500, body: "the shop is closed" });
  model.answers(calls([["order", { item: "tea" }, "a"], ["order", { item: "milk" }, "b"]]), say("Here you are.", { usage: [70, 5] }));
  const { id } = await of("priced").sendForTask("two things", { returnImmediately: true });
  await app.visit(`#/tasks/priced/${id}`, async (view) => {
    const held = await sink.arrival("/orders/tea");
    await sink.arrival("/orders/milk");
    // Both are under way at once: one is held, the other has failed meanwhile.
    await view.until(async () => (await rows(view)).some((row) => row.startsWith("2 Tool order")), async () => JSON.stringify(await rows(view)));
    await held.answer();
    await untilEnded(of("priced"), id);
    await view.becomes(() => rows(view), ["0 Turn Message 1", "1 Model request 1", "2 Tool order", "3 Step request", "2 Tool order , failed", "3 Step request , failed", "1 Model request 2"]);
    const [[first], [second]] = [await bars(view, "order"), await bars(view, "order , failed")];
    assert.ok(first !== undefined && second !== undefined && first[0] < second[1] && second[0] < first[1], JSON.stringify([first, second]));
    await view.sees("1 failed");
    assert.match(await opens(view, /^Tool order , failed/), /Input\s.*"milk".*Error\s.*500/s);
    await view.reaches(/row=/);
    await view.page.$eval(".trace", (trace) => trace.scrollIntoView());
    await view.inspect("trace");
    const asked = await opens(view, /^Model request 2/);
    assert.match(asked, /70 tokens in, 5 out · cost/);
    assert.match(await opens(view, /^Turn Message 1/), /Input\s+two things.*Output\s.*Here you are\./s);
  });
});

test("a killed attempt and the one that goes on are bars of one turn", async () => {
  sink.plan("/orders/gold", {});
  let isFirst = true;
  model.answerWith(({ body }) => {
    if (!body.messages.some(({ role }) => role === "tool")) return calls([["order", { item: "gold" }, "a"]]);
    const answer = say(["one ", "two"]);
    if (!isFirst) return answer;
    isFirst = false;
    return held(answer, 1);
  });
  const { id } = await of("thinker").sendForTask("go", { returnImmediately: true });
  await until(() => Promise.resolve(model.waiting), (waiting) => waiting === 1);
  await app.worker.kill9();
  await app.worker.restart();
  await untilEnded(of("thinker"), id);
  model.release();
  await app.visit(`#/tasks/thinker/${id}`, async (view) => {
    await view.becomes(() => rows(view), ["0 Turn Message 1", "1 Model request 1", "2 Tool order", "3 Step request", "1 Model request 2"]);
    assert.equal((await bars(view, "Message 1")).length, 2);
    assert.match(await opens(view, /^Turn Message 1/), /Attempt\s+1, .*\s2, .*goes on where it was/s);
    assert.match(await opens(view, /^Model request 2/), /Attempt\s+2.*Input\s+The result of order/s);
    await view.click("link", "Show in the log");
    await view.reaches(/view=log&entry=/);
    const marked = () => view.page.$$eval(".entry[aria-current=true]", (all) => all.map((one) => one.textContent));
    await view.until(async () => /Model request 2/.test((await marked()).join()), async () => (await marked()).join());
  });
});

test("tasks of other agents stand below the calls that gave them, and lead there and back", async () => {
  const asked = await of("planner").sendForTask("Will it rain in Rome, and book a train to Rome");
  await of("planner").sendForTask({ taskId: asked.id, parts: [{ text: "Monday" }] });
  await app.visit(`#/tasks/planner/${asked.id}`, async (view) => {
    await view.click("button", /^Parts of Agent weather/);
    await view.until(async () => (await rows(view)).includes("4 Turn Message 1"), async () => JSON.stringify(await rows(view)));
    await view.click("button", "Show the tasks of other agents");
    await view.sees("with 2 tasks of other agents");
    const inside = async () => (await rows(view)).filter((row) => /^[34] /.test(row));
    await view.becomes(inside, ["3 Agent weather", "4 Turn Message 1", "3 Agent trains", "4 Turn Message 1", "3 Agent trains", "4 Turn Message 2"]);
    await view.page.$eval(".trace", (trace) => trace.scrollIntoView());
    await view.inspect("trace-tree");
    await opens(view, /^Agent weather/);
    await view.click("link", /^weather [0-9a-f]{12}…/);
    await view.reaches(/#\/tasks\/weather\//);
    await view.sees("Asked by");
    await view.click("link", /^planner [0-9a-f]{12}…/);
    await view.reaches(`#/tasks/planner/${asked.id}`);
  });
  await app.visit(`#/chat/planner/${asked.id}`, async (view) => {
    await view.sees(/asked weather, [\d.]+ m?s/);
    await view.sees(/asked trains, [\d.]+ m?s/);
  });
});
