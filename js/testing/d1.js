// D1: the database with the list of tasks, with the tables of the package.
import { readFileSync, readdirSync } from "node:fs";
import { Database, isQuery } from "./sqlite.js";

const MIGRATIONS = new URL("../../migrations/", import.meta.url);

/** @type {string | undefined} */
let tables;

/** The database of an agent; it outlives isolates. */
export function newDatabase() {
  tables ??= allTables();
  const database = new Database();
  database.run(tables);
  return database;
}

/** The statements of all migrations. */
function allTables() {
  const names = readdirSync(MIGRATIONS).filter((name) => name.endsWith(".sql")).sort();
  return names.map((name) => readFileSync(new URL(name, MIGRATIONS), "utf8")).join("\n");
}

/** The binding of an isolate. The engine asks for the names of the classes of bindings. */
export class D1Database {
  #isolate;
  #database;

  /** @param {import("./isolate.js").Isolate} isolate @param {Database} database */
  constructor(isolate, database) {
    this.#isolate = isolate;
    this.#database = database;
  }

  /** @param {string} sql */
  prepare(sql) {
    return new D1PreparedStatement(this.#isolate, this.#database, sql, []);
  }

  /** @param {D1PreparedStatement[]} statements */
  batch(statements) {
    return later(this.#isolate, () => this.#database.transaction(() => statements.map((statement) => statement.result())));
  }
}

class D1PreparedStatement {
  #isolate;
  #database;
  #sql;
  #values;

  /** @param {import("./isolate.js").Isolate} isolate @param {Database} database @param {string} sql @param {unknown[]} values */
  constructor(isolate, database, sql, values) {
    this.#isolate = isolate;
    this.#database = database;
    this.#sql = sql;
    this.#values = values;
  }

  /** @param {unknown[]} values */
  bind(...values) {
    return new D1PreparedStatement(this.#isolate, this.#database, this.#sql, values);
  }

  run() {
    return later(this.#isolate, () => this.result());
  }

  all() {
    return this.run();
  }

  /** @param {string} [column] */
  first(column) {
    return later(this.#isolate, () => {
      const row = this.result().results[0];
      return row === undefined ? null : column === undefined ? row : row[column];
    });
  }

  raw() {
    return later(this.#isolate, () => this.result().results.map((row) => Object.values(row)));
  }

  /** Runs the statement at once. */
  result() {
    const results = this.#database.all(this.#sql, this.#values);
    const changes = isQuery(this.#sql) ? 0 : this.#database.changes;
    const meta = { duration: 0, rows_read: results.length, rows_written: changes, changes, changed_db: changes > 0 };
    return { success: true, results, meta };
  }
}

/**
 * Does something soon, unless the isolate has ended by then.
 *
 * @template T @param {import("./isolate.js").Isolate} isolate @param {() => T} work
 * @returns {Promise<T>} Pending for ever if the isolate ends.
 */
async function later(isolate, work) {
  await undefined;
  if (!isolate.isAlive) return new Promise(() => {});
  isolate.platform.quiet.note();
  return work();
}
