// ListTasks (spec §3.1.4), and the index behind it.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, message, textOf, until, type Reply, type Task, type TaskList } from "./client.ts";
import { startWorker, type Database, type Worker } from "./harness.ts";

const list = (agent: Agent, params: Record<string, unknown> = {}): Promise<TaskList> => agent.listTasks(params);

/** A task in a context of its own, or in a given one. */
const sendIn = (agent: Agent, contextId: string, text: string): Promise<Task> =>
  agent.sendForTask(message({ contextId, parts: [{ text }] }));

const ids = (tasks: Task[]): string[] => tasks.map(({ id }) => id);

/** Newest status first, ties by id descending. */
const inOrder = (tasks: Task[]): Task[] =>
  [...tasks].sort((a, b) => {
    const [first, second] = [a, b].map(({ id, status }) => `${status.timestamp} ${id}`) as [string, string];
    return first < second ? 1 : -1;
  });

let worker: Worker;
let demo: Agent;
before(async () => {
  worker = await startWorker();
  demo = new Agent(`${worker.url}/demo`);
});
after(() => worker.stop());

test("nothing found is an empty list with all members (§3.1.4)", async () => {
  const empty = { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 };
  assert.deepEqual(await list(demo, { contextId: randomUUID() }), empty);
});

for (const text of ["hello", "ask", "fail", "reject", "auth", "hold 50", "hold 600"]) {
  test(`what came of "${text}" is listed as soon as it is answered, as GetTask gives it but for artifacts (§3.1.4)`, async () => {
    const contextId = randomUUID();
    const { artifacts: _, ...task } = await sendIn(demo, contextId, text);
    const { tasks, totalSize } = await list(demo, { contextId });
    assert.deepEqual(tasks, [task]);
    assert.equal(totalSize, 1);
  });
}

test("a listed task follows its task: working, asking, answered, canceled (§3.1.4)", async () => {
  const contextId = randomUUID();
  const state = async () => (await list(demo, { contextId })).tasks.map(({ status }) => status.state);
  const held = await demo.sendForTask(message({ contextId, parts: [{ text: "hold 60000" }] }), { returnImmediately: true });
  await until(state, ([state]) => state === "TASK_STATE_WORKING");
  await demo.cancelTask(held.id);
  assert.deepEqual(await state(), ["TASK_STATE_CANCELED"]);

  const asked = await sendIn(demo, contextId, "ask");
  assert.deepEqual(await state(), ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_CANCELED"]);
  await demo.sendForTask(followUp(asked, "red"));
  assert.deepEqual(await state(), ["TASK_STATE_COMPLETED", "TASK_STATE_CANCELED"]);
});

test("a direct message is not listed (§3.1.4)", async () => {
  const contextId = randomUUID();
  await demo.send(message({ contextId, parts: [{ text: "message" }] }));
  assert.equal((await list(demo, { contextId })).totalSize, 0);
});

test("the newest status comes first, and a follow-up brings its task to the top (§3.1.4)", async () => {
  const contextId = randomUUID();
  const asked = await sendIn(demo, contextId, "ask");
  const others = await Promise.all(["a", "b", "c"].map((text) => sendIn(demo, contextId, text)));
  const before = await list(demo, { contextId });
  assert.deepEqual(ids(before.tasks), ids(inOrder([asked, ...others])));
  const answered = await demo.sendForTask(followUp(asked, "blue"));
  const { tasks } = await list(demo, { contextId });
  assert.deepEqual(ids(tasks), ids(inOrder([answered, ...others])));
  assert.equal(tasks[0]?.id, asked.id);
});

describe("filters", () => {
  let contextId: string;
  let tasks: Task[];
  before(async () => {
    contextId = randomUUID();
    tasks = [];
    for (const text of ["one", "fail", "two", "ask", "reject"]) tasks.push(await sendIn(demo, contextId, text));
  });

  for (const [status, count] of [
    ["TASK_STATE_COMPLETED", 2],
    ["TASK_STATE_FAILED", 1],
    ["TASK_STATE_REJECTED", 1],
    ["TASK_STATE_INPUT_REQUIRED", 1],
    ["TASK_STATE_WORKING", 0],
    ["TASK_STATE_UNSPECIFIED", 5],
    [3, 2],
    [6, 1],
    [0, 5],
  ] as const) {
    test(`status ${status} finds ${count} of 5 (§3.1.4)`, async () => {
      const found = await list(demo, { contextId, status });
      assert.equal(found.totalSize, count);
      assert.equal(found.tasks.length, count);
      assert.ok(found.tasks.every((task) => tasks.some(({ id, status }) => id === task.id && status.state === task.status.state)));
    });
  }

  for (const status of ["TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED"]) {
    test(`status ${status} is also found over all contexts, page by page (§3.1.4)`, async () => {
      const { tasks: all, totalSize } = await list(demo, { status, pageSize: 100 });
      assert.equal(all.length, totalSize);
      assert.ok(all.every((task) => task.status.state === status));
      const paged = await everyPage(demo, { status, pageSize: 1 });
      assert.deepEqual(ids(paged), ids(all));
    });
  }

  test("statusTimestampAfter includes that very instant, and goes with other filters (§3.1.4)", async () => {
    const middle = tasks[2]?.status.timestamp ?? "";
    const expected = tasks.filter(({ status }) => status.timestamp >= middle);
    const found = await list(demo, { contextId, statusTimestampAfter: middle });
    assert.deepEqual(ids(found.tasks), ids(inOrder(expected)));
    assert.equal(found.totalSize, expected.length);
    const future = new Date(Date.now() + 60_000).toISOString();
    assert.equal((await list(demo, { statusTimestampAfter: future })).totalSize, 0);
    const both = await list(demo, { statusTimestampAfter: middle, status: "TASK_STATE_REJECTED" });
    assert.ok(ids(both.tasks).includes(tasks[4]?.id ?? ""));
  });

  test("names are also understood in snake_case (§5.5)", async () => {
    const found = await list(demo, { context_id: contextId, page_size: 2, include_artifacts: false, history_length: 0 });
    assert.deepEqual([found.pageSize, found.totalSize, found.tasks.length], [2, 5, 2]);
  });
});

/** All tasks of a listing, page by page. */
async function everyPage(agent: Agent, params: Record<string, unknown>, between: () => Promise<unknown> = async () => {}): Promise<Task[]> {
  const tasks: Task[] = [];
  for (let pageToken = ""; ; ) {
    const page = await list(agent, { ...params, pageToken });
    tasks.push(...page.tasks);
    if (page.nextPageToken === "") return tasks;
    pageToken = page.nextPageToken;
    await between();
  }
}

describe("paging", () => {
  for (const pageSize of [1, 2, 3, 7, 100]) {
    test(`pages of ${pageSize} show every task once, while others are added (§3.1.4)`, async () => {
      const contextId = randomUUID();
      const made = await Promise.all(Array.from({ length: 7 }, (_, index) => sendIn(demo, contextId, `task ${index}`)));
      const shown = await everyPage(demo, { contextId, pageSize }, () => sendIn(demo, contextId, "another"));
      assert.deepEqual(ids(shown), ids(inOrder(made)));
    });
  }

  test("tasks with the same instant are paged without gaps (§3.1.4)", async () => {
    const d1 = await worker.d1();
    const contextId = randomUUID();
    const insert = "INSERT INTO tasks VALUES ('anonymous', 'demo', 1000, ?, ?, 3, 2, ?, '', NULL)";
    const names = Array.from({ length: 5 }, (_, index) => `${contextId}-${index}`);
    const head = (id: string) => JSON.stringify({ id, contextId, status: { state: "TASK_STATE_COMPLETED" } });
    await d1.batch(names.map((id) => d1.prepare(insert).bind(id, contextId, head(id))));
    assert.deepEqual(ids(await everyPage(demo, { contextId, pageSize: 2 })), names.reverse());
  });

  test("the page size that is told is the one asked for, the total that of all pages (§3.1.4)", async () => {
    const contextId = randomUUID();
    for (const text of ["a", "b", "c"]) await sendIn(demo, contextId, text);
    const first = await list(demo, { contextId, pageSize: 2 });
    assert.deepEqual([first.pageSize, first.totalSize, first.tasks.length], [2, 3, 2]);
    const last = await list(demo, { contextId, pageSize: 2, pageToken: first.nextPageToken });
    assert.deepEqual([last.pageSize, last.totalSize, last.tasks.length, last.nextPageToken], [2, 3, 1, ""]);
  });

  for (const pageSize of [0, -1, 101, 1.5, "many", true, 4_294_967_297]) {
    test(`a page size of ${JSON.stringify(pageSize)} is refused (§3.1.4)`, async () => {
      await assert.rejects(list(demo, { pageSize }), { code: -32602, reason: "INVALID_PARAMS", fields: ["pageSize"] });
    });
  }

  for (const pageToken of ["x", "%%%", "bm90IGEgdG9rZW4", "a".repeat(10_000)]) {
    test(`the page token ${pageToken.slice(0, 20)} is refused (§3.1.4)`, async () => {
      await assert.rejects(list(demo, { pageToken }), { code: -32602, reason: "INVALID_PARAMS", fields: ["pageToken"] });
    });
  }

  test("a page token is refused with other filters, and with another agent (§3.1.4)", async () => {
    const contextId = randomUUID();
    for (const text of ["a", "b"]) await sendIn(demo, contextId, text);
    const { nextPageToken: pageToken } = await list(demo, { contextId, pageSize: 1 });
    const refused = { code: -32602, fields: ["pageToken"] };
    await assert.rejects(list(demo, { pageToken }), refused);
    await assert.rejects(list(demo, { contextId, status: 3, pageToken }), refused);
    await assert.rejects(list(new Agent(worker.url), { contextId, pageToken }), refused);
    assert.equal((await list(demo, { contextId, pageToken, pageSize: 5 })).tasks.length, 1, "another page size is fine");
  });
});

for (const [field, value] of [
  ["status", "DONE"],
  ["status", 99],
  ["historyLength", -1],
  ["statusTimestampAfter", "yesterday"],
  ["includeArtifacts", "yes"],
  ["contextId", 5],
  ["pageToken", {}],
] as const) {
  test(`${field} ${JSON.stringify(value)} is refused (§3.1.4)`, async () => {
    await assert.rejects(list(demo, { [field]: value }), { code: -32602, reason: "INVALID_PARAMS", fields: [field] });
  });
}

describe("what a listed task shows", () => {
  let contextId: string;
  let task: Task;
  before(async () => {
    contextId = randomUUID();
    task = await demo.sendForTask(followUp(await sendIn(demo, contextId, "ask"), "red"));
  });

  for (const [historyLength, expected] of [
    [0, undefined],
    [1, ["red"]],
    [2, ["Which colour?", "red"]],
    [100, ["ask", "Which colour?", "red"]],
    [undefined, ["ask", "Which colour?", "red"]],
  ] as const) {
    for (const includeArtifacts of [false, true]) {
      const artifacts = includeArtifacts ? "with" : "without";
      test(`historyLength ${historyLength} gives ${expected?.length ?? "none"} of 3 messages, ${artifacts} artifacts (§3.2.4)`, async () => {
        const { tasks } = await list(demo, { contextId, historyLength, includeArtifacts });
        assert.deepEqual(tasks[0]?.history?.map(textOf), expected);
      });
    }
  }

  test("artifacts are left out unless they are asked for (§3.1.4)", async () => {
    for (const params of [{}, { includeArtifacts: false }, { includeArtifacts: null }]) {
      const { tasks } = await list(demo, { contextId, ...params });
      assert.ok(tasks[0] !== undefined && !("artifacts" in tasks[0]));
    }
    assert.deepEqual((await list(demo, { contextId, includeArtifacts: true })).tasks, [task]);
  });

  test("with artifacts, a task that has none shows an empty list (§3.1.4)", async () => {
    const contextId = randomUUID();
    await sendIn(demo, contextId, "fail");
    const { tasks } = await list(demo, { contextId, includeArtifacts: true });
    assert.deepEqual(tasks[0]?.artifacts, []);
  });

  test("with artifacts, a whole page comes in its order, and what has vanished is left out (§3.1.4)", async () => {
    const contextId = randomUUID();
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    const made = inOrder(await Promise.all(texts.map((text) => sendIn(demo, contextId, text))));
    const listed = await list(demo, { contextId, includeArtifacts: true });
    assert.deepEqual(listed.tasks, made);

    const insert = "INSERT INTO tasks VALUES ('anonymous', 'demo', 9e12, ?, ?, 3, 2, '{}', '', NULL)";
    await (await worker.d1()).prepare(insert).bind("f".repeat(64), contextId).run();
    assert.deepEqual((await list(demo, { contextId, includeArtifacts: true })).tasks, made);
  });

  test("large artifacts end a page early, and the pages show them all (§3.1.4)", async () => {
    const contextId = randomUUID();
    const text = "x".repeat(3_000_000);
    const made = await Promise.all(Array.from({ length: 5 }, () => sendIn(demo, contextId, text)));
    const first = await list(demo, { contextId, includeArtifacts: true });
    assert.ok(first.tasks.length < 5 && first.nextPageToken !== "");
    const shown = await everyPage(demo, { contextId, includeArtifacts: true });
    assert.deepEqual(ids(shown), ids(inOrder(made)));
  });

  test("a long history and a large status message stay within the row, and GetTask has all (§3.2.4)", async () => {
    const contextId = randomUUID();
    for (const [length, shown, hasMessage] of [[40_000, 2, true], [70_000, undefined, false]] as const) {
      const asked = await sendIn(demo, contextId, "ask");
      for (let turn = 0; turn < 2; turn++) await demo.sendForTask(followUp(asked, "x".repeat(length)));
      const { tasks } = await list(demo, { contextId });
      assert.equal(tasks[0]?.status.state, "TASK_STATE_COMPLETED");
      assert.equal(tasks[0]?.status.message !== undefined, hasMessage);
      assert.equal(tasks[0]?.history?.length, shown);
      assert.equal((await demo.getTask(asked.id)).history?.length, 5);
    }
  });
});

test("an agent lists its own tasks alone, at its path and by tenant (§3.1.4)", async () => {
  const contextId = randomUUID();
  const assistant = new Agent(worker.url);
  const [ours, theirs] = [await sendIn(demo, contextId, "hello"), await sendIn(assistant, contextId, "hello")];
  assert.deepEqual(ids((await list(demo, { contextId })).tasks), [ours.id]);
  assert.deepEqual(ids((await list(assistant, { contextId })).tasks), [theirs.id]);
  assert.deepEqual(ids((await list(assistant, { contextId, tenant: "demo" })).tasks), [ours.id]);
  await assert.rejects(list(assistant, { tenant: "unknown" }), { code: -32602, fields: ["tenant"] });
});

test("the HTTP+JSON binding lists the same, by its query (§11.3.3)", async () => {
  const contextId = randomUUID();
  for (const text of ["a", "fail", "b"]) await sendIn(demo, contextId, text);
  for (const params of [
    { contextId, pageSize: "2" },
    { contextId, status: "TASK_STATE_COMPLETED", historyLength: "0" },
    { contextId, includeArtifacts: "true", statusTimestampAfter: "2026-01-05T09:00:01.250Z" },
  ]) {
    const response = await fetch(`${demo.endpoint}/tasks?${new URLSearchParams(params)}`, { headers: { "a2a-version": "1.0" } });
    assert.equal(response.status, 200);
    const includeArtifacts = params.includeArtifacts === "true";
    assert.deepEqual(await response.json(), await list(demo, { ...params, includeArtifacts }));
  }
  const refused = await fetch(`${demo.endpoint}/tasks?pageSize=0`, { headers: { "a2a-version": "1.0" } });
  assert.equal(refused.status, 400);
});

test("tasks of another caller are neither listed nor counted (§3.1.4)", async () => {
  const contextId = randomUUID();
  const insert = "INSERT INTO tasks VALUES ('stranger', 'demo', 1000, ?, ?, 3, 2, '{}', '', NULL)";
  await (await worker.d1()).prepare(insert).bind(randomUUID(), contextId).run();
  assert.equal((await list(demo, { contextId })).totalSize, 0);
});

test("after a kill, what was answered is listed (§3.1.4)", async () => {
  const contextId = randomUUID();
  const task = await sendIn(demo, contextId, "hello");
  await worker.kill9();
  await worker.restart();
  assert.deepEqual(ids((await list(demo, { contextId })).tasks), [task.id]);
});

describe("while D1 is down", () => {
  const hide = async (d1: Database) => void (await d1.prepare("ALTER TABLE tasks RENAME TO hidden").run());
  const show = async (d1: Database) => void (await d1.prepare("ALTER TABLE hidden RENAME TO tasks").run());

  test("tasks go on, listing says so, and their rows arrive later without help (§3.1.4)", async () => {
    const d1 = await worker.d1();
    const contextId = randomUUID();
    const asked = await sendIn(demo, contextId, "ask");
    await hide(d1);
    let made: Task[];
    try {
      made = await Promise.all(["one", "two", "three"].map((text) => sendIn(demo, contextId, text)));
      made.push(await demo.sendForTask(followUp(asked, "red")));
      for (const { id, status } of made) assert.deepEqual((await demo.getTask(id)).status, status);
      // An object that is not in memory pays what it owes all the same.
      await worker.evict(made[0]?.id ?? "");

      const headers = { "content-type": "application/json", "a2a-version": "1.0" };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} });
      const response = await fetch(demo.endpoint, { method: "POST", headers, body });
      const { error } = (await response.json()) as Reply;
      assert.equal(response.status, 200);
      assert.match(response.headers.get("retry-after") ?? "", /^\d+$/);
      assert.equal(error?.code, -32603);
      assert.equal(error?.data?.[0]?.reason, "UNAVAILABLE");
      assert.match(error?.message ?? "", /cannot be listed at the moment/);

      const rest = await fetch(`${demo.endpoint}/tasks`, { headers: { "a2a-version": "1.0" } });
      assert.equal(rest.status, 503);
      assert.match(rest.headers.get("retry-after") ?? "", /^\d+$/);
      assert.equal(((await rest.json()) as { error: { status: string } }).error.status, "UNAVAILABLE");
    } finally {
      await show(d1);
    }
    const { tasks } = await until(
      () => list(demo, { contextId, status: "TASK_STATE_COMPLETED" }),
      ({ totalSize }) => totalSize === 4,
    );
    assert.deepEqual(ids(tasks), ids(inOrder(made)));
    assert.ok(worker.logs.some(({ message }) => message.includes(made[0]?.id ?? "?") && message.includes("attempt 1")));
  });

  test("a row that is owed arrives without help also after a kill (§3.1.4)", async () => {
    const contextId = randomUUID();
    await hide(await worker.d1());
    let id: string;
    try {
      ({ id } = await sendIn(demo, contextId, "hello"));
      await worker.kill9();
      await worker.restart();
    } finally {
      await show(await worker.d1());
    }
    const { tasks } = await until(() => list(demo, { contextId }), ({ totalSize }) => totalSize === 1);
    assert.deepEqual(ids(tasks), [id]);
  });

  test("an answer does not wait for it (§3.1.1)", async () => {
    const d1 = await worker.d1();
    await hide(d1);
    try {
      const begun = Date.now();
      await demo.sendForTask("hello");
      assert.ok(Date.now() - begun < 2000);
    } finally {
      await show(d1);
    }
  });
});

interface Cost {
  sql: string;
  rowsRead: number;
  rowsWritten: number;
}

/** The statements on the index so far. */
const costs = async (): Promise<Cost[]> => (await (await fetch(`${worker.url}/_dev/statements`)).json()) as Cost[];

test("a quick task is one statement", async () => {
  const upserts = async () => (await costs()).filter(({ sql }) => sql.startsWith("INSERT INTO tasks"));
  const before = (await upserts()).length;
  for (const text of ["hello", "hold 100"]) await demo.sendForTask(text);
  const made = (await upserts()).slice(before);
  assert.equal(made.length, 2);
  for (const { rowsWritten } of made) assert.ok(rowsWritten <= 5, `${rowsWritten} rows written`);
});

describe("with 100,000 tasks of one caller", () => {
  const assistant = () => new Agent(worker.url);
  let total: number;
  before(async () => {
    const head = `json_object('id', printf('%064x', n), 'contextId', 'seeded', 'status', json_object('state', 'TASK_STATE_COMPLETED'))`;
    const seed = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
      INSERT INTO tasks SELECT 'anonymous', 'assistant', n * 10, printf('%064x', n), 'context-' || (n % 1000),
        CASE WHEN n % 5000 = 0 THEN 2 WHEN n % 500 = 1 THEN 4 ELSE 3 END, 2, ${head}, '', NULL FROM numbers`;
    await (await worker.d1()).prepare(seed).run();
    ({ totalSize: total } = await list(assistant()));
    assert.ok(total >= 100_000);
  });

  /** The two statements that a listing causes: its page, and its total. */
  async function listed(params: Record<string, unknown>): Promise<{ page: Cost; total: Cost; found: TaskList }> {
    const found = await list(assistant(), params);
    const [page, total] = (await costs()).slice(-2);
    assert.ok(page !== undefined && total !== undefined);
    return { page, total, found };
  }

  async function plan({ sql }: Cost): Promise<string> {
    const values = [...sql.matchAll(/\?\d+/g)].map(() => 1);
    const { results } = await (await worker.d1()).prepare(`EXPLAIN QUERY PLAN ${sql}`).bind(...values).run<{ detail: string }>();
    return results.map(({ detail }) => detail).join("; ");
  }

  for (const pageSize of [1, 2, 10, 50, 100]) {
    test(`an unfiltered page of ${pageSize} with its total reads at most three times as many rows, on every page`, async () => {
      let pageToken = "";
      for (let number = 0; number < 3; number++) {
        const { page, total: counted, found } = await listed({ pageSize, pageToken });
        const read = page.rowsRead + counted.rowsRead;
        assert.ok(read <= 3 * pageSize, `${read} rows read`);
        assert.deepEqual([found.tasks.length, found.totalSize], [pageSize, total]);
        pageToken = found.nextPageToken;
      }
    });
  }

  test("a page is a range of an index, without sorting, and so is a total", async () => {
    for (const [params, pagePlan, totalPlan] of [
      [{}, /^SEARCH tasks USING PRIMARY KEY \(owner=\? AND agent=\?\)$/, /^SEARCH task_counts USING PRIMARY KEY \(owner=\? AND agent=\?\)$/],
      [{ contextId: "context-7" }, /USING INDEX tasks_by_context \(owner=\? AND agent=\? AND context_id=\?\)$/, /COVERING INDEX tasks_by_context \(owner=\? AND agent=\? AND context_id=\?\)$/],
      [{ status: 2 }, /USING INDEX tasks_unfinished \(owner=\? AND agent=\? AND state=\?\)$/, /COVERING INDEX tasks_unfinished/],
      [{ status: 4 }, /USING PRIMARY KEY \(owner=\? AND agent=\?\)$/, /COVERING INDEX tasks_by_context \(owner=\? AND agent=\?\)$/],
      [{ statusTimestampAfter: new Date(999_500).toISOString() }, /USING PRIMARY KEY \(owner=\? AND agent=\? AND status_ms>\?\)$/, /USING PRIMARY KEY/],
    ] as const) {
      const { page, total } = await listed(params);
      assert.match(await plan(page), pagePlan);
      assert.match(await plan(total), totalPlan);
    }
    const { found } = await listed({});
    const { page } = await listed({ pageToken: found.nextPageToken });
    assert.match(await plan(page), /^SEARCH tasks USING PRIMARY KEY \(owner=\? AND agent=\? AND \(status_ms,id\)<\(\?,\?\)\)$/);
  });

  for (const [what, params, matching, most] of [
    ["a context", { contextId: "context-7" }, 100, 250],
    ["a state that is not final", { status: "TASK_STATE_WORKING" }, 20, 80],
  ] as const) {
    test(`listing ${what} reads about what it finds`, async () => {
      const { page, total, found } = await listed(params);
      assert.equal(found.totalSize, matching);
      assert.ok(page.rowsRead + total.rowsRead <= most, `${page.rowsRead} and ${total.rowsRead} rows read`);
    });
  }

  test("a final state is counted and paged rightly", async () => {
    const { found } = await listed({ status: "TASK_STATE_FAILED", pageSize: 10 });
    assert.equal(found.totalSize, 200);
    assert.equal(found.tasks.length, 10);
  });
});
