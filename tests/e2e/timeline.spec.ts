// The contents of a task's timeline, their visibility, and its pages (docs/timeline.md).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { rest, rpc, type Answer } from "./answers.ts";
import { Agent, followUp, toolCall, until, untilEnded } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { agentsOf, CALLERS, SECRETS } from "./isolation.ts";
import { calls, held, say } from "./model-server.ts";
import { withThinkers } from "./models.ts";
import { overviewOf, sums } from "./overview.ts";
import { Sink } from "./sink.ts";
import { type Entry, type Timeline, inOrder, walk } from "./timelines.ts";

const thinking = withThinkers({}, { KEEP_ALIVE_MS: "1000", WEBHOOK_RETRY_MS: "50" });

const asked: Record<string, (agent: string, id: string, query?: Record<string, unknown>) => Promise<Answer>> = {
  "JSON-RPC": (agent, id, query = {}) => rpc(`${thinking.worker.url}/${agent}`, "GetTaskTimeline", { id, ...query }),
  "HTTP+JSON": (agent, id, query = {}) =>
    rest(`${thinking.worker.url}/${agent}/tasks/${encodeURIComponent(id)}/timeline?${new URLSearchParams(query as Record<string, string>)}`, "GET"),
};
const read = async (agent: string, id: string): Promise<Timeline> => (await asked["HTTP+JSON"]!(agent, id, { pageSize: "100" })).result as unknown as Timeline;
const only = (entries: Entry[], kind: string): Entry[] => entries.filter((entry) => entry.kind === kind);

for (const [binding, ask] of Object.entries(asked)) {
  describe(`over ${binding}`, () => {
    test("events are told with generations and times, and runs between them", async () => {
      const { id, contextId } = await thinking.agent("demo").sendForTask("chunks");
      const page = (await ask("demo", id)).result as unknown as Timeline;
      assert.deepEqual([page.taskId, page.contextId, page.agent, page.state], [id, contextId, "demo", "TASK_STATE_COMPLETED"]);
      const events = page.entries.filter(({ generation }) => generation !== null);
      assert.deepEqual(events.map(({ generation }) => generation), events.map((_, index) => index + 1));
      assert.equal(page.generation, events.length);
      assert.deepEqual([page.entries[0]?.kind, page.entries[1]?.kind, page.entries.at(-1)?.kind], ["task", "run", "status"]);
      assert.equal(page.entries[0]?.message?.parts[0]?.text, "chunks");
      assert.ok(only(page.entries, "artifact").length > 1);
      assert.ok(page.entries.every(({ at }) => typeof at === "number" && Math.abs(at - Date.now()) < 60_000));
      assert.ok(inOrder(page.entries.map(({ at }) => at ?? 0)));
      assert.deepEqual([page.nextPageToken, page.owner], ["", undefined]);
    });

    test("pages hold all entries once, in both orders, and go on behind the last", async () => {
      const asking = await thinking.agent("demo").sendForTask("ask");
      const page = (query: Record<string, unknown>) => ask("demo", asking.id, query).then(({ result }) => result as unknown as Timeline);
      const whole = await page({ pageSize: "100" });
      for (const pageSize of ["1", "2", "7"]) {
        assert.deepEqual(await walk(page, { pageSize }), whole.entries);
        assert.deepEqual((await walk(page, { pageSize, order: "desc" })).reverse(), whole.entries);
      }
      const newest = await page({ pageSize: "1", order: "desc" });
      for (const { resumeToken: pageToken } of [whole, newest]) assert.deepEqual((await page({ pageToken })).entries, []);
      await thinking.agent("demo").sendForTask(followUp(asking, "green"));
      const behind = await page({ pageToken: newest.resumeToken });
      assert.deepEqual(behind.entries.map(({ kind }) => kind).slice(0, 2), ["message", "status"]);
      assert.deepEqual([...whole.entries, ...behind.entries], (await page({ pageSize: "100" })).entries);
    });

    test("bad parameters are named", async () => {
      const { id } = await thinking.agent("demo").sendForTask("hello");
      const other = await thinking.agent("demo").sendForTask("hello");
      const { nextPageToken: token } = (await ask("demo", id, { pageSize: "1" })).result as unknown as Timeline;
      for (const [query, field] of [
        [{ pageSize: "0" }, "pageSize"], [{ pageSize: "101" }, "pageSize"], [{ pageSize: "many" }, "pageSize"], [{ order: "up" }, "order"],
        [{ pageToken: "x" }, "pageToken"], [{ pageToken: token, order: "desc" }, "pageToken"],
      ] as const) {
        const { status, fields, error } = await ask("demo", id, query);
        assert.ok([-32602, 400].includes(status), error);
        assert.deepEqual(fields, [field]);
      }
      assert.match((await ask("demo", other.id, { pageToken: token })).error ?? "", /belongs to the timeline of another task/);
      for (const unknown of ["f".repeat(64), "nonsense"]) {
        assert.ok([-32001, 404].includes((await ask("demo", unknown)).status), unknown);
      }
    });
  });
}

describe("of an agent of kind model", () => {
  test("requests to models and calls of tools are told with durations and usage", async () => {
    thinking.sink.plan("/orders/tea", { body: "tea is ordered" });
    let isFirst = true;
    thinking.model.answerWith(() => {
      const answer = isFirst ? calls([["order", { item: "tea" }, "a"]]) : say(["done"]);
      isFirst = false;
      return answer;
    });
    const { id } = await thinking.agent().sendForTask("order tea");
    const { entries, usage } = await read("thinker", id);
    const steps = only(entries, "step");
    assert.deepEqual(steps.map(({ type }) => type), ["model", "step", "tool", "model"]);
    const [asking, , order] = steps;
    assert.equal(steps[1]?.of, "1.1", "what the call keeps so that it can be made again");
    assert.deepEqual([asking?.calls, order?.tool, order?.failed], [["order"], "order", false]);
    assert.ok(steps.every(({ durationMs }) => typeof durationMs === "number"));
    assert.equal(asking?.usage?.requests, 1);
    assert.equal(usage?.requests, 2);
    assert.match(order?.outcome ?? "", /tea is ordered/, "while the Worker is developed");
    assert.deepEqual(JSON.parse(order?.input ?? ""), { item: "tea" }, "which is also the default of `trace`");
  });

  test("steps that failed are counted, in the task and in its list entry, though it is completed", async () => {
    thinking.sink.plan("/orders/gold", { status: 500, body: "out of gold" });
    thinking.model.answers(calls([["order", { item: "gold" }, "a"], ["add_numbers", { a: 1, b: 2 }, "b"]]), say("There is no gold, and 1 + 2 is 3."));
    const { id, contextId, status, metadata } = await thinking.agent().sendForTask("order gold");
    assert.deepEqual([status.state, metadata?.["urn:a2a-edge:failed-steps"]], ["TASK_STATE_COMPLETED", 1]);
    const { entries, failedSteps } = await read("thinker", id);
    const failed = only(entries, "step").filter(({ failed }) => failed).map(({ type, name }) => [type, name]);
    assert.deepEqual([failedSteps, failed], [1, [["step", "1.1/request"], ["tool", "1.1"]]], "the request is a part of the call");
    const { tasks: [listed] } = await until(() => thinking.agent().listTasks({ contextId }), ({ tasks }) => tasks[0]?.status.state === "TASK_STATE_COMPLETED");
    assert.equal(listed?.metadata?.["urn:a2a-edge:failed-steps"], 1);
    assert.doesNotMatch(JSON.stringify(listed?.metadata), /gold/);
    await thinking.killAndRestart();
    assert.equal((await thinking.agent().getTask(id)).metadata?.["urn:a2a-edge:failed-steps"], 1, "the log says it");
    thinking.model.answers(say("hello"));
    const fine = await thinking.agent().sendForTask("hi");
    assert.deepEqual([fine.metadata?.["urn:a2a-edge:failed-steps"], (await read("thinker", fine.id)).failedSteps], [undefined, undefined]);
    // The overview counts the tasks that have it, once, whenever their rows are written again.
    const ended = await until(() => overviewOf(thinking.worker, "thinker"), (shown) => sums(shown).completed >= 2);
    assert.deepEqual([sums(ended).completed >= 2, ended.hours.reduce((sum, hour) => sum + hour.withFailedSteps, 0)], [true, 1]);
  });

  test("what is under way is told, and after a crash there are two attempts", async () => {
    let isFirst = true;
    thinking.model.answerWith(() => {
      const answer = say(["one ", "two"]);
      if (!isFirst) return answer;
      isFirst = false;
      return held(answer, 1);
    });
    const { id } = await thinking.agent().sendForTask("go", { returnImmediately: true });
    const { underWay } = await until(() => read("thinker", id), ({ underWay }) => underWay.length > 0);
    assert.deepEqual([underWay[0]?.type, underWay[0]?.name], ["model", "model"]);
    await thinking.killAndRestart();
    await untilEnded(thinking.agent(), id);
    thinking.model.release();
    const { entries, underWay: left } = await read("thinker", id);
    assert.deepEqual(only(entries, "run").map(({ attempt, resumes }) => [attempt, resumes]), [[1, false], [2, true]]);
    assert.deepEqual(left, []);
  });
});

test("attempts to reach webhooks stand among the events, by origin alone", async () => {
  const sink = await Sink.open();
  try {
    sink.plan("/s3cret?key=s3cret", { status: 500 }, {});
    const agent = thinking.agent("demo");
    const { id } = await agent.sendForTask("ask");
    const hook = { taskId: id, id: "mine", url: `${sink.url}/s3cret?key=s3cret`, token: "s3cret", authentication: { scheme: "Bearer", credentials: "s3cret" } };
    await agent.call("CreateTaskPushNotificationConfig", hook);
    await agent.sendForTask(followUp(await agent.getTask(id), "green"));
    const timeline = await until(() => read("demo", id), ({ entries }) => only(entries, "webhookAttempt").filter(({ outcome }) => outcome === "delivered").length > 1);
    const attempts = only(timeline.entries, "webhookAttempt");
    assert.deepEqual(attempts.slice(0, 2).map(({ attempt, outcome, status }) => [attempt, outcome, status]), [[1, "retry", 500], [2, "delivered", 200]]);
    assert.ok(attempts.every(({ origin, webhook }) => origin === sink.url && webhook === "mine"));
    assert.doesNotMatch(JSON.stringify(timeline), /s3cret|whsec_/);
    for (const { generation, at } of attempts) {
      const event = timeline.entries.findIndex((entry) => entry.generation === generation && entry.kind !== "webhookAttempt");
      assert.ok(event < timeline.entries.findIndex((entry) => entry.kind === "webhookAttempt" && entry.at === at));
    }
  } finally {
    sink.close();
  }
});

describe("of a Worker that is deployed", () => {
  let worker: Worker;
  let id: string;
  before(async () => {
    worker = await startWorker({ vars: { ...SECRETS, AGENTS: guardedAgents(), DEVELOPMENT: "false" } });
    id = (await new Agent(`${worker.url}/keyed`, CALLERS["the owner"]!.headers).sendForTask({ parts: ["1", "2", "3"].flatMap((text) => toolCall("add_numbers", { a: 1, b: Number(text) }).parts) })).id;
  });
  after(() => worker.stop());
  const ask = (who: keyof typeof CALLERS) => rest(`${worker.url}/keyed/tasks/${id}/timeline`, "GET", undefined, CALLERS[who]!.headers);

  test("the owner is told that steps were done, and an operator what they came to and who has asked", async () => {
    const owner = (await ask("the owner")).result as unknown as Timeline;
    const operator = (await ask("an operator")).result as unknown as Timeline;
    assert.deepEqual(owner.entries.map(({ kind }) => kind), operator.entries.map(({ kind }) => kind));
    assert.ok(only(owner.entries, "run").every(({ caller }) => caller === undefined));
    assert.ok(only(operator.entries, "run").every(({ caller }) => caller === "key:alice"));
    assert.deepEqual([owner.owner, operator.owner], [undefined, "key:alice"]);
    const shown = ({ entries }: Timeline) => only(entries, "step").map(({ type, name, outcome }) => [type, name, outcome]);
    assert.deepEqual(shown(owner), [["tool", "1", undefined], ["tool", "2", undefined]]);
    assert.deepEqual(shown(operator), [["tool", "1", "null"], ["tool", "2", "null"]]);
  });

  test("for everybody else there is no such task", async () => {
    for (const who of ["another caller", "an operator who does not say so"] as const) {
      assert.equal((await ask(who)).status, 404, who);
    }
    assert.equal((await ask("an anonymous caller")).status, 401);
    assert.equal((await ask("the owner as if it were an operator")).status, 403);
  });
});

/** The agents, with API keys for the callers of the assistant. */
function guardedAgents(): string {
  const { agents, ...built } = JSON.parse(agentsOf(testAgents)) as { agents: { slug: string; access: { schemes?: { key?: object } } }[] };
  const { access } = agents.find(({ slug }) => slug === "guarded")!;
  const assistant = agents.find(({ slug }) => slug === "assistant");
  return JSON.stringify({ ...built, agents: [...agents.filter(({ slug }) => !["double", "faults"].includes(slug)), { ...assistant, slug: "keyed", default: false, access: { schemes: { key: access.schemes?.key } } }] });
}
