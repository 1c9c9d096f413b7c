// The parameters of ListTasks that are a2a-edge's own: a text, tasks that wait for their client, and summaries.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { Agent, followUp, message, until, type Task, type TaskList } from "./client.ts";
import { ONLY_D1, testAgents } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { demo, ids, list, sendIn, withWorker, worker } from "./listing.ts";

withWorker({ notes: true, vars: { ...SECRETS, AGENTS: agentsOf(testAgents) } });

/** A page of a search. */
type Found = TaskList & { searchedSize: number; isBounded: boolean };

const find = async (agent: Agent, text: string, params: Record<string, unknown> = {}): Promise<Found> => (await list(agent, { text, ...params })) as Found;
const guarded = (headers: Record<string, string>): Agent => new Agent(`${worker.url}/guarded`, headers);
const keyOf = (name: keyof typeof SECRETS): Record<string, string> => ({ "x-api-key": SECRETS[name] });
const asOperator = { ...keyOf("KEY_OPS"), "act-as": "operator" };
const listed = (agent: Agent, task: Task): Promise<TaskList> =>
  until(() => list(agent, { contextId: task.contextId }), ({ tasks }) => tasks[0]?.status.timestamp === task.status.timestamp);

describe("a text", () => {
  const contextId = randomUUID();
  const made = new Map<string, Task>();
  const asked = ["Order 50% of_it", "Order 500 of it", "Éclair à la carte", "ПРИВЕТ, мир", 'say "C:\\new"', "ask"];
  before(async () => {
    for (const text of asked) made.set(text, await sendIn(demo, contextId, text));
    const data = message({ contextId, parts: [{ data: { tool: "reserve", arguments: { guests: "Quadruple" } } }, { raw: "cXVhZHJhbnQ=", mediaType: "text/quadrant" }] });
    made.set("data", await demo.sendForTask(data));
    await until(() => list(demo, { contextId }), ({ totalSize }) => totalSize === made.size);
  });

  test("is found in what was asked and what was answered, in either case, and as it is", async () => {
    for (const [text, found] of [
      ["order", ["Order 500 of it", "Order 50% of_it"]],
      ["50% OF_", ["Order 50% of_it"]],
      ["50%", ["Order 50% of_it"]],
      ["%", ["Order 50% of_it"]],
      ["r 50_", []],
      ["éCLAIR À", ["Éclair à la carte"]],
      ["привет, МИР", ["ПРИВЕТ, мир"]],
      ['"c:\\NEW"', ['say "C:\\new"']],
      ["which colour?", ["ask"]],
      ["quadruple", ["data"]],
      ["quadrant", []],
      ["messageId", []],
      ["ROLE_USER", []],
      ["' OR 1 = 1 --", []],
      ["\u0000", []],
    ] as const) {
      const page = await find(demo, text, { contextId });
      assert.deepEqual(ids(page.tasks), found.map((name) => made.get(name)?.id), text);
      assert.deepEqual([page.totalSize, page.searchedSize, page.isBounded, page.nextPageToken], [found.length, made.size, false, ""], text);
    }
  });

  test("may be the id of a task or of its context, and goes with the other filters, page by page", async () => {
    const task = made.get("ask");
    assert.ok(task !== undefined);
    assert.deepEqual(ids((await find(demo, task.id.slice(3, 40).toUpperCase())).tasks), [task.id]);
    assert.equal((await find(demo, contextId.slice(2), { waiting: true })).totalSize, 1);
    assert.equal((await find(demo, contextId, { status: "TASK_STATE_COMPLETED", includeArtifacts: true })).totalSize, made.size - 1);
    const first = await find(demo, contextId, { pageSize: 4 });
    const second = await find(demo, contextId, { pageSize: 4, pageToken: first.nextPageToken });
    assert.deepEqual([first.totalSize, second.nextPageToken], [made.size, ""]);
    assert.deepEqual(new Set(ids([...first.tasks, ...second.tasks])), new Set([...made.values()].map(({ id }) => id)));
    await assert.rejects(find(demo, "other", { pageToken: first.nextPageToken }), /pageToken belongs to a listing with other filters/);
  });

  test("is a parameter of the query, too, and has at most 100 characters", async () => {
    const ask = (query: string) => fetch(`${demo.endpoint}/tasks?contextId=${contextId}&${query}`, { headers: { "a2a-version": "1.0" } });
    const found = (await (await ask("text=Order%20500&waiting=false")).json()) as Found;
    assert.deepEqual(ids(found.tasks), [made.get("Order 500 of it")?.id]);
    assert.equal((await ask(`text=${encodeURIComponent("é".repeat(100))}`)).status, 200);
    for (const query of [`text=${"x".repeat(101)}`, "waiting=perhaps", "includeSummary=2"]) assert.equal((await ask(query)).status, 400, query);
  });
});

test("tasks that wait for input or for credentials are listed and counted together", async () => {
  const contextId = randomUUID();
  const [question, credentials] = [await sendIn(demo, contextId, "ask"), await sendIn(demo, contextId, "auth")];
  await sendIn(demo, contextId, "hello");
  const waiting = { contextId, waiting: true };
  await until(() => list(demo, { contextId }), ({ totalSize }) => totalSize === 3);
  const both = await list(demo, { ...waiting, pageSize: 1, historyLength: 0 });
  assert.deepEqual([both.totalSize, ids(both.tasks)], [2, [credentials.id]]);
  assert.deepEqual(ids((await list(demo, { ...waiting, pageSize: 1, pageToken: both.nextPageToken })).tasks), [question.id]);
  assert.deepEqual(ids((await list(demo, { ...waiting, status: "TASK_STATE_INPUT_REQUIRED" })).tasks), [question.id]);
  assert.equal((await list(demo, { ...waiting, status: "TASK_STATE_COMPLETED" })).totalSize, 0);
  await listed(demo, await demo.sendForTask(followUp(question, "red")));
  assert.deepEqual(ids((await list(demo, waiting)).tasks), [credentials.id]);
  // Over all contexts, another index is read.
  const all = await list(demo, { waiting: true, pageSize: 100 });
  assert.equal(all.totalSize, all.tasks.length);
  assert.ok(ids(all.tasks).includes(credentials.id) && !ids(all.tasks).includes(question.id));
});

test("a summary tells what was asked first and how long it took", async () => {
  const contextId = randomUUID();
  const task = await sendIn(demo, contextId, `ask\u001e\u001f ${"x".repeat(200)}`);
  const question = await sendIn(demo, contextId, "ask");
  const answered = await demo.sendForTask(followUp(question, "red"));
  await listed(demo, answered);
  const summaries = async (agent: Agent, params: object) => {
    const { tasks } = await list(agent, { contextId, includeSummary: true, historyLength: 0, ...params });
    return new Map(tasks.map(({ id, metadata }) => [id, metadata ?? {}]));
  };
  for (const params of [{}, { text: "red" }, { includeArtifacts: true }]) {
    const metadata = (await summaries(demo, params)).get(question.id);
    assert.equal(metadata?.["urn:a2a-edge:asked"], "ask", JSON.stringify(params));
    assert.ok(Number(metadata?.["urn:a2a-edge:duration-ms"]) >= 0);
  }
  assert.equal((await summaries(demo, {})).get(task.id)?.["urn:a2a-edge:asked"], `ask   ${"x".repeat(154)}`);
  assert.deepEqual((await list(demo, { contextId })).tasks.find(({ id }) => id === question.id)?.metadata ?? {}, answered.metadata ?? {});
});

test("the tasks of others are neither found nor counted, but by operators", async () => {
  const word = `secret-${randomUUID()}`;
  const [alice, bob, operator] = [guarded(keyOf("KEY_ALICE")), guarded(keyOf("KEY_BOB")), guarded(asOperator)];
  const task = await alice.sendForTask(word);
  const open = await alice.sendForTask(message({ contextId: task.contextId, parts: [{ text: "ask" }] }));
  await until(() => list(alice, { contextId: task.contextId }), ({ totalSize }) => totalSize === 2);
  assert.deepEqual(ids((await find(alice, word)).tasks), [task.id]);
  assert.deepEqual(ids((await find(guarded(keyOf("KEY_MIA")), word)).tasks), [task.id], "a member of the group");
  for (const [who, agent] of [["another caller", bob], ["an operator as a caller", guarded(keyOf("KEY_OPS"))], ["at another agent", new Agent(`${worker.url}/other`, keyOf("KEY_ALICE"))], ["another agent", demo]] as const) {
    for (const text of [word, task.id, task.contextId]) {
      const { tasks, totalSize } = await find(agent, text);
      assert.deepEqual([tasks, totalSize], [[], 0], `${who}: ${text}`);
    }
    const { tasks } = await list(agent, { waiting: true, pageSize: 100 });
    assert.ok(!ids(tasks).includes(open.id), who);
  }
  // Callers who are not known see nothing without a context, however they ask.
  const closed = new Agent(`${worker.url}/closed`);
  const unknown = await closed.sendForTask(message({ parts: [{ text: `ask` }] }));
  await until(() => list(closed, { contextId: unknown.contextId }), ({ totalSize }) => totalSize === 1);
  assert.deepEqual(await list(closed, { waiting: true }), { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 });
  const nothing = await find(closed, unknown.id);
  assert.deepEqual([nothing.tasks, nothing.totalSize, nothing.searchedSize], [[], 0, 0]);
  const all = await find(operator, word, { includeSummary: true });
  assert.deepEqual([ids(all.tasks), all.tasks[0]?.metadata?.["urn:a2a-edge:owner"], all.tasks[0]?.metadata?.["urn:a2a-edge:asked"]], [[task.id], "@key:blue", word]);
  assert.ok(ids((await list(operator, { waiting: true, pageSize: 100 })).tasks).includes(open.id));
  const ofBob = guarded({ ...keyOf("KEY_OPS"), "act-as": `operator; owner=${encodeURIComponent("key:bob")}` });
  assert.equal((await find(ofBob, word)).totalSize, 0);
});

describe("of more than 10,000 tasks", () => {
  const assistant = () => new Agent(worker.url);
  const COUNT = 12_000;
  before(async () => {
    // In an object of the index, the first task makes the tables.
    await list(demo);
    const text = `'number ' || n || CASE WHEN n = 7 THEN ' needle' WHEN n % 1000 = 0 THEN ' thousand' ELSE '' END`;
    const part = `json_array(json_object('text', ${text}))`;
    const history = `json_object('messageId', 'm' || n, 'role', 'ROLE_USER', 'parts', json(${part}))`;
    const head = `json_object('id', printf('%064x', n), 'contextId', 'seeded', 'status', json_object('state', 'TASK_STATE_COMPLETED'))`;
    const seed = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${COUNT})
      INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history) SELECT 'anonymous', 'assistant', n * 1000, printf('%064x', n), 'seeded', 3, 2, ${head}, ${history} FROM numbers`;
    await (await worker.index()).prepare(seed).run();
  });

  test("the newest 10,000 are searched, which the answer tells, and the next page goes on with the older ones", async () => {
    const first = await find(assistant(), "NEEDLE");
    assert.deepEqual([first.tasks, first.totalSize, first.searchedSize, first.isBounded], [[], 0, 10_000, true]);
    const next = await find(assistant(), "NEEDLE", { pageToken: first.nextPageToken });
    assert.deepEqual([ids(next.tasks), next.searchedSize, next.isBounded, next.nextPageToken], [[(7).toString(16).padStart(64, "0")], COUNT - 10_000, false, ""]);
    const all: Task[] = [];
    for (let pageToken: string | undefined; pageToken !== ""; ) {
      const page = await find(assistant(), "thousand", { pageSize: 3, ...(pageToken === undefined ? {} : { pageToken }) });
      all.push(...page.tasks);
      pageToken = page.nextPageToken;
    }
    assert.deepEqual(ids(all), Array.from({ length: 12 }, (_, nth) => ((12 - nth) * 1000).toString(16).padStart(64, "0")), "each once, in order");
  });

  test("a search reads the rows it looks at, and a count those that wait", ONLY_D1, async () => {
    const cost = async (agent: Agent, params: Record<string, unknown>) => {
      const before = (await worker.statements()).length;
      await list(agent, params);
      const [statement, ...others] = (await worker.statements()).slice(before).filter(({ sql }) => !sql.startsWith("INSERT"));
      assert.deepEqual(others, [], "one statement");
      return statement?.rowsRead ?? 0;
    };
    const search = await cost(assistant(), { text: "needle" });
    const escaped = await cost(assistant(), { text: 'a "needle"' });
    assert.ok(search >= 10_000 && search <= 45_000 && escaped <= 200_000, `${search} and ${escaped} rows`);
    const none = await cost(assistant(), { waiting: true, pageSize: 1, historyLength: 0 });
    const { totalSize } = await list(demo, { waiting: true });
    const some = await cost(demo, { waiting: true, pageSize: 1, historyLength: 0 });
    assert.ok(none <= 4 && some <= 4 * totalSize + 8, `${none} and ${some} rows for ${totalSize} tasks`);
  });
});
