// The commands for operators on a terminal: questions, secrets that are typed, colours, widths, progress; and what follows a task.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, message, until, type Task } from "./client.ts";
import { secret, startWorker, testAgents, type Worker } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { answerJson, hasTerminal, linesOf, listed, Operator, standIn, withSchemes } from "./operate.ts";

let worker: Worker;
let operator: Operator;
before(async () => {
  worker = await startWorker({ vars: { ...SECRETS, AGENTS: withSchemes(agentsOf(testAgents)) } });
  operator = new Operator(worker.url);
});
after(async () => {
  await worker.stop();
  operator.remove();
});

const bob = () => new Agent(`${worker.url}/guarded`, { "x-api-key": SECRETS.KEY_BOB });
const begin = async (text: string) => (await bob().call<{ task: Task }>("SendMessage", { message: message(text) })).task;
const state = async ({ id }: Task) => (await bob().call<Task>("GetTask", { id })).status.state;

const COLOURS = /\u001b\[\d+m/g;

describe("on a terminal", { skip: !hasTerminal }, () => {
  test("a key that is typed is not shown, and can be corrected; Ctrl-C keeps nothing", async () => {
    const question = `Key for ${worker.url}: `;
    const stopped = await operator.onTerminal(["login"], [[question, "abc\u0003"]]);
    assert.deepEqual([stopped.code, operator.kept()], [130, []]);
    const wrong = secret("TYPED_WRONG", "typed-and-wrong");
    const refused = await operator.onTerminal(["login"], [[question, `${wrong}\r`]]);
    assert.deepEqual([refused.code, operator.kept()], [3, []]);
    assert.ok(!refused.stdout.includes(wrong), refused.stdout);
    const { code, stdout } = await operator.onTerminal(["login"], [[question, `x\u007f${SECRETS.KEY_OPS}\r`]]);
    assert.equal(code, 0, stdout);
    assert.ok(!stdout.includes(SECRETS.KEY_OPS.slice(0, 8)), stdout);
    assert.match(stdout, /Operator of guarded, other\./);
  });

  test("a task is canceled after a yes alone", async () => {
    const task = await begin("ask");
    const question = `Cancel task ${task.id} of guarded at ${worker.url}? [y/N]`;
    for (const [typed, code, told] of [["n\r", 1, /Nothing was done\./], ["\r", 1, /Nothing was done\./], ["\u0004", 1, /Nothing was done\./], ["\u0003", 130, /^/]] as const) {
      const refused = await operator.onTerminal(["cancel", task.id.slice(0, 12)], [[question, typed]]);
      assert.equal(refused.code, code);
      assert.match(refused.stdout, told);
    }
    assert.equal(await state(task), "TASK_STATE_INPUT_REQUIRED");
    const { code } = await operator.onTerminal(["cancel", task.id], [[question, "y\r"]]);
    assert.equal(code, 0);
    assert.equal(await state(task), "TASK_STATE_CANCELED");
  });

  test("tables have colours, short ids and the width of the terminal; NO_COLOR has no colours", async () => {
    const task = await begin(`hello ${"漢字 ".repeat(60)}`);
    const { code, stdout } = await operator.onTerminal(["tasks", "--agent", "guarded"]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, COLOURS);
    const lines = stdout.replace(COLOURS, "").split("\r\n");
    const line = lines.find((line) => line.startsWith(task.id.slice(0, 12)));
    assert.ok(line !== undefined && !line.includes(task.id), stdout);
    assert.match(line, /漢字.*…$/);
    for (const shown of lines) assert.ok([...shown].reduce((width, letter) => width + (/[漢字]/.test(letter) ? 2 : 1), 0) <= 80, shown);
    const plain = await operator.onTerminal(["tasks", "--agent", "guarded"], [], { NO_COLOR: "1" });
    assert.doesNotMatch(plain.stdout, COLOURS);
  });

  test("what takes long shows how far it is, and leaves nothing of that behind", async () => {
    const pages = await standIn((path, response, request) => {
      if (path === "/console/api/agents") return answerJson(response, { agents: [listed("one")] });
      const from = Number(new URL(request.url ?? "", "http://a").searchParams.get("pageToken") ?? 0);
      const page = { tasks: [{ id: `t-${from}`, status: {} }], nextPageToken: from < 20 ? String(from + 1) : "", totalSize: 21 };
      return void setTimeout(() => answerJson(response, page), 60);
    });
    const { code, stdout } = await operator.onTerminal(["tasks", "--failed-steps", "--url", pages.url]);
    pages.close();
    assert.equal(code, 0, stdout);
    assert.match(stdout, /\[#+\.+\] Reading tasks: \d+ of 21/);
    assert.match(stdout, /\r\u001b\[2KNo task matches the filters at [^\r]*\.\r\n$/);
  });
});

test("tail follows a task until it has ended", async () => {
  const task = await begin("ask");
  const env = { A2A_EDGE_KEY: SECRETS.KEY_OPS };
  const { ended, printed } = operator.start(["tail", task.id, "--every", "1", "--json"], { env });
  await until(async () => printed(), (text) => text.includes("TASK_STATE_INPUT_REQUIRED"));
  await bob().call("CancelTask", { id: task.id });
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 0, stderr);
  const entries = linesOf<{ kind?: string; state?: string }>({ code, stdout, stderr });
  assert.equal(entries.at(-1)?.state, "TASK_STATE_CANCELED");
  assert.equal(entries.filter(({ kind }) => kind === "task").length, 1, "each entry once");
});

test("tail tells each change of all tasks once, from when it began on, also after the server was away", async () => {
  const before = await begin("hello");
  const env = { A2A_EDGE_KEY: SECRETS.KEY_OPS };
  const { printed, stop, ended } = operator.start(["tail", "--agent", "guarded", "--every", "1", "--json"], { env });
  // It is not told when it has begun to look, so tasks are begun until one is seen.
  const begun: string[] = [];
  await until(async () => void begun.push((await begin("hello")).id), () => begun.some((id) => printed().includes(id)));
  await worker.restart();
  const later = await begin("ask");
  await until(async () => printed(), (text) => text.includes(later.id));
  await bob().call("CancelTask", { id: later.id });
  await until(async () => printed(), (text) => text.includes("TASK_STATE_CANCELED"));
  stop();
  const lines = linesOf<{ id: string; state: string; owner: string }>(await ended);
  assert.ok(!lines.some(({ id }) => id === before.id));
  assert.deepEqual(lines.filter(({ id }) => id === later.id).map(({ state }) => state), ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_CANCELED"]);
  const told = lines.map(({ id, state }) => `${id} ${state}`);
  assert.equal(new Set(told).size, told.length);
  assert.ok(lines.every(({ owner }) => owner === "key:bob"));
});
