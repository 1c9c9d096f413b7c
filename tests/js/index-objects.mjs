// Objects of the index with a real SQLite, for the tests of js/.
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { runInShard } from "../../js/index-shard.js";

export const DIRECTORY = '{"index":[]}';
export const SCHEMA = ["src/edge/service/directory.sql", "migrations/0001_schema.sql", "migrations/0002_fewer_rows.sql", "migrations/0003_deleted_tasks.sql", "migrations/0004_quotas.sql", "migrations/0005_metrics.sql", "migrations/0006_models_and_failed_steps.sql"].map(
  (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"),
);

export const INSERT = "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history) VALUES (?1, ?2, ?3, ?4, 'c', 3, 1, '{}', '')";

/** The objects of a namespace, each with its storage, which outlives its memory. */
export class Namespace {
  objects = new Map();
  isDown = false;
  schema = SCHEMA;

  idFromName(name) {
    return name;
  }

  get(name) {
    return {
      index: async (request) => {
        if (this.isDown && name === DIRECTORY) throw new Error("the object is down");
        return runInShard(this.at(name).state, { TASKS: this }, structuredClone(request), () => this.schema);
      },
    };
  }

  at(name) {
    const known = this.objects.get(name);
    if (known !== undefined) return known;
    const database = new DatabaseSync(":memory:");
    const object = { database, size: 0, state: undefined };
    this.objects.set(name, object);
    this.#wake(object);
    return object;
  }

  /** Drops the memory of an object. */
  evict(name) {
    this.#wake(this.at(name));
  }

  #wake(object) {
    const exec = (sql, ...values) => {
      // As on the platform, values belong to the last of several statements.
      if (values.length === 0 && /;\s*\S/.test(sql)) {
        object.database.exec(sql);
        return { toArray: () => [] };
      }
      const rows = object.database.prepare(sql).all(...values);
      return { toArray: () => rows.map((row) => ({ ...row })) };
    };
    object.state = { storage: { sql: { exec, get databaseSize() { return object.size; } } } };
  }

  rows(name, sql) {
    return this.at(name).database.prepare(sql).all().map((row) => ({ ...row }));
  }
}

export const shard = (owner, number) => JSON.stringify({ index: [owner, number] });
