// Makes the storage of one object fail, like a full or broken disk.

import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Edits the SQLite file of an object in a Worker's storage folder. The Worker must not be running. */
export function editObject(storage: string, taskId: string, edit: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(fileOf(storage, taskId));
  try {
    edit(database);
  } finally {
    database.close();
  }
}

/**
 * Makes every later commit fail that inserts a row with this `condition` (on `NEW`) into `table`. The statement itself
 * succeeds; the platform then resets the object and holds all its answers back.
 */
export function failCommits(database: DatabaseSync, table: "log" | "webhook", condition: string): void {
  database.exec(`
    CREATE TABLE IF NOT EXISTS whole (id INTEGER PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS broken (id INTEGER REFERENCES whole (id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER fail_${table} AFTER INSERT ON ${table} WHEN ${condition} BEGIN INSERT INTO broken VALUES (1); END;
  `);
}

/** Replaces the SQLite file of an object by a folder, so that the object cannot even start. */
export function blockObject(storage: string, taskId: string): void {
  const path = fileOf(storage, taskId);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  mkdirSync(path);
}

function fileOf(storage: string, taskId: string): string {
  const name = `${taskId}.sqlite`;
  const path = readdirSync(storage, { recursive: true, encoding: "utf8" }).find((entry) => entry.endsWith(name));
  if (path === undefined) throw new Error(`${storage} holds no object ${taskId}`);
  return join(storage, path);
}
