// A Worker whose objects have tables with the next number: it writes `READS + 1`, and reads that and everything that the Worker inside reads, which
// only reads up to `READS`. An object that was begun with a smaller number gets the next one with its next row, as docs/upgrades.md prescribes.
// `READS` is defined when this is bundled (wrapped.ts).
import handlers, * as inner from "worker";

const NEXT = READS + 1;

/** What the Worker inside writes in place of the next number. */
let written = READS;

const INSERT = /^INSERT INTO log \(([^)]*)\)\s+VALUES \(([^)]*)\)$/;
const SELECT = "SELECT schema, ";
const UPDATE = `UPDATE log SET schema = ${NEXT} WHERE seq = 1 AND schema < ${NEXT}`;

/** The place of the number among the values of an INSERT; -1 if there is none. */
function placeOfNumber(columns, places) {
  const index = columns.split(/,\s*/).indexOf("schema");
  return index < 0 ? -1 : places.split(/,\s*/).slice(0, index).filter((place) => place === "?").length;
}

/** Makes the statements of a kind of databases write and read the next number. */
function patch(prototype) {
  const { exec } = prototype;
  prototype.exec = function (statement, ...values) {
    const insert = INSERT.exec(statement);
    if (insert !== null) {
      const place = placeOfNumber(insert[1], insert[2]);
      if (place < 0) exec.call(this, UPDATE);
      else {
        written = Number(values[place]);
        values[place] = NEXT;
      }
      return exec.call(this, statement, ...values);
    }
    if (statement.startsWith(SELECT)) {
      return exec.call(this, `SELECT iif(schema = ${NEXT}, ${written}, schema) AS schema, ${statement.slice(SELECT.length)}`, ...values);
    }
    // Otherwise this module would no longer fit the Worker inside.
    if (/\bschema\b/.test(statement) && !/^\s*CREATE TABLE/.test(statement)) throw new Error(`unknown use of the number: ${statement}`);
    return exec.call(this, statement, ...values);
  };
}

let isPatched = false;

export class TaskObject extends inner.TaskObject {
  constructor(state, env) {
    if (!isPatched) patch(Object.getPrototypeOf(state.storage.sql));
    isPatched = true;
    super(state, env);
  }
}

export default handlers;
