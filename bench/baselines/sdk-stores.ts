// The stores of the baseline for tasks: SQLite in the task's object, and D1 for listing.

import { Task, TaskState, type ListTasksRequest, type ListTasksResponse } from "@a2a-js/sdk";
import type { TaskStore } from "@a2a-js/sdk/server";
import type { D1Database, SqlStorage } from "cloudflare:workers";

/** The table of `IndexStore`. */
export const SCHEMA = [
  "CREATE TABLE listed (id TEXT PRIMARY KEY, context_id TEXT NOT NULL, state INTEGER NOT NULL, changed TEXT NOT NULL, body TEXT NOT NULL) WITHOUT ROWID",
  "CREATE INDEX listed_by_change ON listed (changed, id)",
];

/** The store for the only task of an object. */
export class ObjectStore implements TaskStore {
  readonly #sql: SqlStorage;
  readonly #index: IndexStore;
  readonly #delayMs: number;
  #task: Task | undefined;
  #later: ReturnType<typeof setTimeout> | undefined;

  /**
   * Each change of a task's state is written to the index before the change becomes visible. With `delayMs`, all changes
   * within that time become one row, unless the task rests; a crash in between leaves the task unlisted.
   */
  constructor(sql: SqlStorage, index: IndexStore, delayMs: number) {
    this.#sql = sql;
    this.#index = index;
    this.#delayMs = delayMs;
    sql.exec("CREATE TABLE IF NOT EXISTS task (one INTEGER PRIMARY KEY, body TEXT NOT NULL)");
    const [row] = sql.exec<{ body: string }>("SELECT body FROM task").toArray();
    if (row !== undefined) this.#task = Task.fromJSON(JSON.parse(row.body));
  }

  async load(id: string): Promise<Task | undefined> {
    return this.#task?.id === id ? structuredClone(this.#task) : undefined;
  }

  async save(task: Task): Promise<void> {
    const isSameState = this.#task?.status?.state === task.status?.state;
    this.#task = structuredClone(task);
    const body = JSON.stringify(Task.toJSON(task));
    this.#sql.exec("INSERT INTO task (one, body) VALUES (1, ?) ON CONFLICT DO UPDATE SET body = excluded.body", body);
    if (isSameState) return;
    if (this.#delayMs > 0 && isActive(task)) {
      this.#later ??= setTimeout(() => this.#list(), this.#delayMs);
    } else {
      await this.#list();
    }
  }

  async list(): Promise<ListTasksResponse> {
    throw new Error("an object lists nothing");
  }

  async #list(): Promise<void> {
    clearTimeout(this.#later);
    this.#later = undefined;
    if (this.#task !== undefined) await this.#index.save(this.#task);
  }
}

/** The store for all tasks, for listing. */
export class IndexStore implements TaskStore {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  async load(): Promise<undefined> {}

  async save(task: Task): Promise<void> {
    const upsert =
      "INSERT INTO listed (id, context_id, state, changed, body) VALUES (?, ?, ?, ?, ?) " +
      "ON CONFLICT DO UPDATE SET state = excluded.state, changed = excluded.changed, body = excluded.body";
    const { id, contextId, status } = task;
    const values = [id, contextId, status?.state ?? 0, status?.timestamp ?? "", JSON.stringify(Task.toJSON(task))];
    await this.#db.prepare(upsert).bind(...values).run();
  }

  /** A page, newest first; the token of the next page contains the change and the id of the last task. */
  async list({ contextId, status, pageSize = 50, pageToken }: ListTasksRequest): Promise<ListTasksResponse> {
    const filter = "(?1 = '' OR context_id = ?1) AND (?2 = 0 OR state = ?2)";
    const page =
      `SELECT id, changed, body, (SELECT count(*) FROM listed WHERE ${filter}) AS total FROM listed ` +
      `WHERE ${filter} AND (?3 = '' OR (changed, id) < (?3, ?4)) ORDER BY changed DESC, id DESC LIMIT ?5`;
    const [changed = "", id = ""] = pageToken ? pageToken.split("/") : [];
    const statement = this.#db.prepare(page).bind(contextId, status, changed, id, pageSize);
    const { results } = await statement.all<{ id: string; changed: string; body: string; total: number }>();
    const last = results.length === pageSize ? results.at(-1) : undefined;
    return {
      tasks: results.map(({ body }) => Task.fromJSON(JSON.parse(body))),
      nextPageToken: last === undefined ? "" : `${last.changed}/${last.id}`,
      pageSize,
      totalSize: results[0]?.total ?? 0,
    };
  }
}

function isActive({ status }: Task): boolean {
  return status?.state === TaskState.TASK_STATE_SUBMITTED || status?.state === TaskState.TASK_STATE_WORKING;
}
