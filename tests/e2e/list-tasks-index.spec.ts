// The index behind ListTasks (spec §3.1.4): listed tasks after a kill and while D1 is down, and the rows that D1 reads and writes.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { Agent, followUp, logged, until, type Reply, type Task, type TaskList } from "./client.ts";
import type { Database, NotedStatement } from "./harness.ts";
import { demo, ids, inOrder, list, sendIn, withWorker, worker } from "./listing.ts";
import { ONLY_D1, startWorker } from "./harness.ts";

withWorker({ notes: true });

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
    const d1 = await worker.index();
    const contextId = randomUUID();
    const asked = await sendIn(demo, contextId, "ask");
    await hide(d1);
    let made: Task[];
    try {
      made = await Promise.all(["one", "two", "three"].map((text) => sendIn(demo, contextId, text)));
      made.push(await demo.sendForTask(followUp(asked, "red")));
      for (const { id, status } of made) assert.deepEqual((await demo.getTask(id)).status, status);
      // An evicted object also writes its missing rows.
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
    await logged(worker, new RegExp(`${made[0]?.id}.*attempt 1`));
  });

  test("a row that is owed arrives without help also after a kill (§3.1.4)", async () => {
    const contextId = randomUUID();
    await hide(await worker.index());
    let id: string;
    try {
      ({ id } = await sendIn(demo, contextId, "hello"));
      await worker.kill9();
      await worker.restart();
    } finally {
      await show(await worker.index());
    }
    const { tasks } = await until(() => list(demo, { contextId }), ({ totalSize }) => totalSize === 1);
    assert.deepEqual(ids(tasks), [id]);
  });

  test("an answer does not wait for it (§3.1.1)", async (t) => {
    // A minute is longer than a test may wait for an answer.
    const own = await startWorker({ vars: { INDEX_WAIT_MS: "60000" } });
    t.after(() => own.stop());
    await hide(await own.index());
    const { task } = await new Agent(`${own.url}/demo`).send("hello", {}, AbortSignal.timeout(40_000));
    assert.equal(task?.status.state, "TASK_STATE_COMPLETED");
  });
});

test("a quick task is one statement", ONLY_D1, async () => {
  const upserts = async () => (await worker.statements()).filter(({ sql }) => sql.startsWith("INSERT INTO tasks"));
  const before = (await upserts()).length;
  for (const text of ["hello", "hold 10"]) await demo.sendForTask(text);
  const made = (await upserts()).slice(before);
  assert.equal(made.length, 2);
  for (const { rowsWritten } of made) assert.ok(rowsWritten <= 3, `${rowsWritten} rows written`);
});

test("the statements of a task leave its newest row alone, in whatever order and however often they are carried out", ONLY_D1, async () => {
  const asked = await demo.sendForTask("ask");
  await demo.sendForTask(followUp(asked, "red"));
  const [moved, first] = (await worker.statements()).map(({ sql }) => sql).filter((sql) => sql.startsWith("INSERT INTO tasks")).reverse();
  assert.match(moved ?? "", /json_each\(\?11\)/);
  assert.doesNotMatch(first ?? "", /json_each/);
  const d1 = await worker.index();
  const rows = async (id: string) => {
    const found = await d1.prepare("SELECT generation, status_ms FROM tasks WHERE id = ?").bind(id).run<{ generation: number; status_ms: number }>();
    return found.results.map(({ generation, status_ms: instant }) => [generation, instant]);
  };
  // Four statuses of a task, each with the instants of those before it. Two have the same instant.
  const sent = [[2, 100, []], [3, 100, [100]], [4, 300, [100]], [5, 500, [100, 300]]] as const;
  const orders = permutations([0, 1, 2, 3]);
  for (const [nth, order] of orders.entries()) {
    const id = `ordered ${nth}`;
    let newest = 0;
    for (const at of [...order, ...order.slice(0, 2)]) {
      const [generation, instant, earlier] = sent[at] ?? sent[0];
      const [state, duration] = generation === 5 ? [3, 7] : [6, null];
      const values = ["o", "demo", instant, id, "c", state, generation, "{}", "", 900];
      const statement = earlier.length === 0 ? d1.prepare(first ?? "").bind(...values) : d1.prepare(moved ?? "").bind(...values, JSON.stringify(earlier), duration);
      await statement.run();
      newest = Math.max(newest, at);
      assert.deepEqual(await rows(id), [[sent[newest]?.[0], sent[newest]?.[1]]], `${order}, after ${at}`);
    }
  }
  await d1.prepare("DELETE FROM tasks WHERE owner = 'o'").run();
});

/** All orders of the values. */
function permutations(values: number[]): number[][] {
  if (values.length < 2) return [values];
  return values.flatMap((value, at) => permutations(values.toSpliced(at, 1)).map((rest) => [value, ...rest]));
}

describe("with 100,000 tasks of one caller", ONLY_D1, () => {
  const assistant = () => new Agent(worker.url);
  let total: number;
  before(async () => {
    const head = `json_object('id', printf('%064x', n), 'contextId', 'seeded', 'status', json_object('state', 'TASK_STATE_COMPLETED'))`;
    const seed = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
      INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history) SELECT 'anonymous', 'assistant', n * 1000, printf('%064x', n), 'context-' || (n % 1000),
        CASE WHEN n % 5000 = 0 THEN 2 WHEN n % 500 = 1 THEN 4 ELSE 3 END, 2, ${head}, '' FROM numbers`;
    await (await worker.index()).prepare(seed).run();
    ({ totalSize: total } = await list(assistant()));
    assert.ok(total >= 100_000);
  });

  /** The only statement of a listing, for the page and its total. */
  async function listed(params: Record<string, unknown>): Promise<{ statement: NotedStatement; found: TaskList }> {
    const before = (await worker.statements()).length;
    const found = await list(assistant(), params);
    const [statement, ...others] = (await worker.statements()).slice(before).filter(({ sql }) => !sql.startsWith("INSERT"));
    assert.ok(statement !== undefined);
    assert.deepEqual(others, []);
    return { statement, found };
  }

  /** The query plans for the rows of the page, and for the total. */
  async function plans({ sql }: NotedStatement): Promise<{ page: string; total: string }> {
    const values = [...sql.matchAll(/\?\d+/g)].map(() => 1);
    const { results } = await (await worker.index()).prepare(`EXPLAIN QUERY PLAN ${sql}`).bind(...values).run<{ detail: string }>();
    const steps = results.map(({ detail }) => detail);
    const at = steps.findIndex((step) => step.startsWith("SCALAR SUBQUERY"));
    return { page: steps.slice(0, at).join("; "), total: steps.slice(at + 1).join("; ") };
  }

  for (const pageSize of [1, 2, 10, 50, 100]) {
    test(`an unfiltered page of ${pageSize} with its total reads few rows more than that, on every page`, async () => {
      let pageToken = "";
      for (let number = 0; number < 3; number++) {
        const { statement, found } = await listed({ pageSize, pageToken });
        // At most 32 tasks are not counted yet, and the one of the last second.
        assert.ok(statement.rowsRead <= pageSize + 2 + 33, `${statement.rowsRead} rows read`);
        assert.deepEqual([found.tasks.length, found.totalSize], [pageSize, total]);
        pageToken = found.nextPageToken;
      }
    });
  }

  test("a page is a range of an index, without sorting, and so is a total", async () => {
    for (const [params, pagePlan, totalPlan] of [
      [{}, /^SEARCH tasks USING PRIMARY KEY \(owner=\? AND agent=\?\)$/, /^SEARCH c USING PRIMARY KEY \(owner=\? AND agent=\?\); CORRELATED SCALAR SUBQUERY \d+; SEARCH n USING PRIMARY KEY \(owner=\? AND agent=\? AND status_ms>\?\)$/],
      [{ contextId: "context-7" }, /USING INDEX tasks_by_context \(owner=\? AND agent=\? AND context_id=\?\)$/, /COVERING INDEX tasks_by_context \(owner=\? AND agent=\? AND context_id=\?\)$/],
      [{ status: 2 }, /USING INDEX tasks_unfinished \(owner=\? AND agent=\? AND state=\?\)$/, /COVERING INDEX tasks_unfinished/],
      [{ status: 4 }, /USING PRIMARY KEY \(owner=\? AND agent=\?\)$/, /COVERING INDEX tasks_by_context \(owner=\? AND agent=\?\)$/],
      [{ statusTimestampAfter: new Date(99_950_000).toISOString() }, /USING PRIMARY KEY \(owner=\? AND agent=\? AND status_ms>\?\)$/, /USING PRIMARY KEY/],
    ] as const) {
      const { page, total } = await plans((await listed(params)).statement);
      assert.match(page, pagePlan);
      assert.match(total, totalPlan);
    }
    const { found } = await listed({});
    const { statement } = await listed({ pageToken: found.nextPageToken });
    assert.match((await plans(statement)).page, /^SEARCH tasks USING PRIMARY KEY \(owner=\? AND agent=\? AND \(status_ms,id\)<\(\?,\?\)\)$/);
  });

  for (const [what, params, matching, most] of [
    ["a context", { contextId: "context-7" }, 100, 250],
    ["a state that is not final", { status: "TASK_STATE_WORKING" }, 20, 80],
  ] as const) {
    test(`listing ${what} reads about what it finds`, async () => {
      const { statement, found } = await listed(params);
      assert.equal(found.totalSize, matching);
      assert.ok(statement.rowsRead <= most, `${statement.rowsRead} rows read`);
    });
  }

  test("a final state is counted and paged rightly", async () => {
    const { found } = await listed({ status: "TASK_STATE_FAILED", pageSize: 10 });
    assert.equal(found.totalSize, 200);
    assert.equal(found.tasks.length, 10);
  });

  test("a page behind the last task tells the total all the same", async () => {
    const first = await list(assistant(), { contextId: "context-8", pageSize: 99 });
    assert.equal(first.totalSize, 100);
    await (await worker.index()).prepare("DELETE FROM tasks WHERE context_id = 'context-8' AND status_ms = (SELECT min(status_ms) FROM tasks WHERE context_id = 'context-8')").run();
    const behind = await list(assistant(), { contextId: "context-8", pageSize: 99, pageToken: first.nextPageToken });
    assert.deepEqual([behind.tasks, behind.totalSize, behind.nextPageToken], [[], 99, ""]);
  });
});
