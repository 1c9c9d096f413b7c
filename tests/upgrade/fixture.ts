// What a release stored and sent, as text files that a reader can compare: written by make.ts, restored for upgrade.spec.ts.

import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

/** The folder with a folder for what each release stored. Other folders are projects, of tests/scripts/upgrade.test.mjs. */
export const fixtures = fileURLToPath(new URL("../fixtures", import.meta.url));

/** The releases that there are fixtures of, oldest first. */
export const releases = existsSync(fixtures) ? readdirSync(fixtures).filter((name) => /^\d/.test(name)).sort((a, b) => a.localeCompare(b, "en", { numeric: true })) : [];

/** What stands in a fixture for the origin of the server that agents and webhooks called. */
export const SINK = "http://sink.test";

/** One text that a part of the Worker sent to another one. */
export interface Recorded {
  /**
   * `command`: the front Worker to an object. `stream`: the first message over a follower's socket. `frame`: an object to its
   * followers. `job`, `deadLetter`: bodies of the two queues. `ask`, `turn`: the consumer to an object, and the answer. `callback`: the front Worker to an object,
   * what was posted to a callback.
   */
  kind: "command" | "stream" | "frame" | "job" | "deadLetter" | "ask" | "turn" | "callback";
  text: string;
}

/** What the fixture of a release says besides its databases. `Answers` is what `play` gives. */
export interface Fixture<Answers> {
  /** The migrations that its database has seen. */
  migrations: string[];
  /** What the release answered. */
  answers: Answers;
}

/** A release's fixture in its storage folder. */
interface Files {
  /** The objects, by task id. */
  objects: Map<string, string>;
  /** The alarms of all objects. */
  alarms: string;
  d1: string;
}

/**
 * Writes the fixture of a release to `folder`, from the storage folder of a Worker that was stopped. `sink` is the origin that its agents
 * and webhooks called, `names` the names of its tasks by id.
 */
export function writeFixture<Answers>(
  folder: string,
  storage: string,
  sink: string,
  names: Map<string, string>,
  answers: Answers,
  recorded: Recorded[],
): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "objects"), { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), squeeze(text.replaceAll(sink, SINK)));

  const files = filesIn(storage);
  for (const [id, file] of files.objects) write(join("objects", `${names.get(id) ?? id}.sql`), `-- ${id}\n${dump(file)}`);
  write("alarms.sql", dump(files.alarms));
  write("d1.sql", dump(files.d1));
  const migrations = JSON.parse(readFileSync(join(storage, "migrations.json"), "utf8")) as string[];
  write("fixture.json", `${JSON.stringify({ migrations, answers }, null, 1).replaceAll(/\n {4,}/g, "")}\n`);
  write("messages.jsonl", recorded.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** Reads the fixture of a release; `sink` is the origin that its agents and webhooks are to call now. */
export function readFixture<Answers>(release: string, sink: string): Fixture<Answers> {
  return JSON.parse(read(release, "fixture.json", sink)) as Fixture<Answers>;
}

/** What the parts of a release sent to each other. */
export function messagesOf(release: string, sink: string): Recorded[] {
  const lines = read(release, "messages.jsonl", sink).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Recorded);
}

/**
 * Restores the fixture of a release in a storage folder in which a Worker was started and stopped before. Runs that were under way
 * are given a new beginning, since they have minutes only, and those that were parked another end of their wait.
 */
export function restoreFixture(release: string, storage: string, sink: string): void {
  const files = filesIn(storage);
  const later = Date.now() + 86_400_000;
  const begunNow = (sql: string): string =>
    sql.replaceAll(/"begunMs":\d+/g, `"begunMs":${Date.now()}`).replaceAll(/"(untilMs|expiresMs)":\d+/g, `"$1":${later}`);
  for (const name of readdirSync(join(fixtures, release, "objects"))) {
    const sql = read(release, join("objects", name), sink);
    const id = /^-- ([0-9a-f]{64})\n/.exec(sql)?.[1];
    if (id === undefined) throw new Error(`${name} does not begin with the id of its object`);
    load(join(files.alarms, "..", `${id}.sqlite`), begunNow(sql));
  }
  load(files.alarms, read(release, "alarms.sql", sink));
  restoreDatabase(release, storage, sink);
}

/** Restores the D1 database of a release alone, in such a folder. */
export function restoreDatabase(release: string, storage: string, sink: string): void {
  load(filesIn(storage).d1, read(release, "d1.sql", sink));
  writeFileSync(join(storage, "migrations.json"), JSON.stringify(readFixture(release, sink).migrations));
}

/** Makes an object sleep until it is asked for something. The Worker must not be running. */
export function removeAlarm(storage: string, id: string): void {
  const { alarms } = filesIn(storage);
  edit(alarms, (database) => database.prepare("DELETE FROM _cf_ALARM WHERE actor_id = ?").run(id));
  edit(join(alarms, "..", `${id}.sqlite`), (database) => database.exec("DELETE FROM _cf_METADATA"));
}

/** When an object is woken, in milliseconds since the epoch. The Worker must not be running. */
export function alarmOf(storage: string, id: string): number {
  const { alarms } = filesIn(storage);
  let at = Number.NaN;
  edit(alarms, (database) => {
    const select = database.prepare("SELECT scheduled_time FROM _cf_ALARM WHERE actor_id = ?");
    select.setReadBigInts(true);
    at = Number((select.get(id)?.["scheduled_time"] as bigint | undefined) ?? Number.NaN) / 1_000_000;
  });
  return at;
}

/** Everything that an object has stored but its alarm, as SQL. The Worker must not be running. */
export function rowsOf(storage: string, id: string): string {
  const lines = dump(join(filesIn(storage).alarms, "..", `${id}.sqlite`)).split("\n");
  return lines.filter((line) => !line.includes('INTO "_cf_METADATA"')).join("\n");
}

function edit(file: string, change: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file);
  try {
    change(database);
  } finally {
    database.close();
  }
}

function read(release: string, name: string, sink: string): string {
  return unsqueezed(readFileSync(join(fixtures, release, name), "utf8")).replaceAll(SINK, sink);
}

/** Where Miniflare keeps the objects of the one class, their alarms, and the one database. */
function filesIn(storage: string): Files {
  const databases = (folder: string): string[] => {
    const names = readdirSync(join(storage, folder), { recursive: true, encoding: "utf8" });
    return names.filter((name) => name.endsWith(".sqlite")).map((name) => join(storage, folder, name));
  };
  const isAlarms = (file: string): boolean => file.endsWith("metadata.sqlite");
  const [objects, d1] = [databases("do"), databases("d1")];
  const [alarms, database] = [objects.find(isAlarms), d1.find((file) => !isAlarms(file))];
  if (alarms === undefined || database === undefined) throw new Error(`no Worker has run in ${storage}`);
  const byId = objects.filter((file) => !isAlarms(file)).map((file) => [/(\w+)\.sqlite$/.exec(file)?.[1] ?? "", file] as const);
  return { objects: new Map(byId), alarms, d1: database };
}

/** A database as SQL: what makes its tables, then a statement for each row. */
export function dump(file: string): string {
  const database = new DatabaseSync(file);
  try {
    const made = database.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").all();
    const tables = made.filter(({ type }) => type === "table");
    const rows = tables.flatMap(({ name }) => {
      const select = database.prepare(`SELECT * FROM "${String(name)}"`);
      select.setReadBigInts(true);
      return select.all().map((row) => `INSERT INTO "${String(name)}" VALUES (${Object.values(row).map(literal).join(", ")});\n`);
    });
    // Triggers come last: the rows are what they made of it already.
    const [triggers, others] = [made.filter(({ type }) => type === "trigger"), made.filter(({ type }) => type !== "trigger")];
    const statements = (list: typeof made): string[] => list.map(({ sql }) => `${String(sql)};\n`);
    return [...statements(others), ...rows, ...statements(triggers)].join("");
  } finally {
    database.close();
  }
}

/** Replaces a database by what an SQL text makes. */
export function load(file: string, sql: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
  edit(file, (database) => database.exec(`BEGIN; ${sql} COMMIT;`));
}

function literal(value: unknown): string {
  if (value === null) return "NULL";
  if (typeof value === "bigint" || typeof value === "number") return String(value);
  if (value instanceof Uint8Array) return `X'${Buffer.from(value).toString("hex")}'`;
  return `'${String(value).replaceAll("'", "''")}'`;
}

/** Writes a character that is repeated a thousand times or more as `«x*1000»`. */
const squeeze = (text: string): string => text.replaceAll(/(.)\1{999,}/g, (run: string, letter: string) => `«${letter}*${run.length}»`);

/** Undoes that. */
export const unsqueezed = (text: string): string => text.replaceAll(/«(.)\*(\d+)»/g, (_, letter: string, count: string) => letter.repeat(Number(count)));
