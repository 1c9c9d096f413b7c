// SQLite of Node.

/** The class of the databases of `node:sqlite`. */
export const DatabaseSync = sqlite();

/** Loads the module without its warning that it is experimental. */
function sqlite() {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    const found = process.getBuiltinModule?.("node:sqlite");
    if (found !== undefined) return found.DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
  throw new Error(`a2a-edge/testing needs Node 22.13 or newer, for node:sqlite; this is Node ${process.versions.node}`);
}

/**
 * A database in memory with its prepared statements, which are made once.
 */
export class Database {
  /** @type {import("node:sqlite").DatabaseSync} */
  #database = new DatabaseSync(":memory:");
  /** @type {Map<string, import("node:sqlite").StatementSync>} */
  #statements = new Map();

  /** Runs any number of statements without values. @param {string} sql */
  run(sql) {
    this.#database.exec(sql);
  }

  /**
   * Runs one statement.
   *
   * @param {string} sql @param {readonly unknown[]} values
   * @returns {Record<string, any>[]} Its rows.
   */
  all(sql, values) {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    const rows = NUMBERED.test(sql) ? statement.all(byNumber(values)) : statement.all(.../** @type {any[]} */ (values));
    return rows.map((row) => ({ ...row }));
  }

  /** The number of rows that the last statement has changed. */
  get changes() {
    return this.all("SELECT changes() AS changes", [])[0]?.changes;
  }

  /** Undoes what `work` has written if it throws. @template T @param {() => T} work @returns {T} */
  transaction(work) {
    this.#database.exec("BEGIN");
    try {
      const result = work();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #rollBack() {
    try {
      this.#database.exec("ROLLBACK");
    } catch {
      // SQLite has ended the transaction itself.
    }
  }
}

/** A parameter with a number, such as `?1`, which may stand in several places. */
const NUMBERED = /\?\d/;

/** Values by the names of numbered parameters: not every version of Node takes them by their order. @param {readonly unknown[]} values @returns {any} */
const byNumber = (values) => Object.fromEntries(values.map((value, at) => [`?${at + 1}`, value]));

/** True if a statement only reads. @param {string} sql */
export const isQuery = (sql) => /^\s*(?:SELECT|WITH|PRAGMA)\b/i.test(sql);
