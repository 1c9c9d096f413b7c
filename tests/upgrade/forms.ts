// The forms of what a fixture holds, without the values: which tables and columns, which members of which type.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { unsqueezed, type Recorded } from "./fixture.ts";

/** A line for each table, each member of a JSON text and its type, and each kind of frame; sorted. */
export function formsOf(folder: string): string[] {
  const forms = new Set<string>();
  const read = (name: string): string => unsqueezed(readFileSync(join(folder, name), "utf8"));
  for (const name of readdirSync(join(folder, "objects"))) addDatabase(forms, "object", read(join("objects", name)));
  addDatabase(forms, "d1", read("d1.sql"));
  for (const line of read("messages.jsonl").trimEnd().split("\n")) {
    const { kind, text } = JSON.parse(line) as Recorded;
    if (kind === "frame") addFrame(forms, text);
    else addJson(forms, kind, JSON.parse(text));
  }
  return [...forms].sort();
}

function addDatabase(forms: Set<string>, where: string, sql: string): void {
  const database = new DatabaseSync(":memory:");
  try {
    database.exec(sql);
    // What begins with _cf_ is the platform's.
    const made = database.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").all().filter(({ name }) => !String(name).startsWith("_cf_"));
    for (const { type, name, sql } of made) {
      forms.add(`${where} ${String(sql).replaceAll(/\s+/g, " ")}`);
      if (type !== "table") continue;
      for (const row of database.prepare(`SELECT * FROM "${String(name)}"`).all()) {
        for (const [column, value] of Object.entries(row)) addValue(forms, `${where} ${String(name)}.${column}`, value);
      }
    }
  } finally {
    database.close();
  }
}

/** The number of an object's form, or the JSON in a text, a line or several. */
function addValue(forms: Set<string>, path: string, value: unknown): void {
  if (path.endsWith(".schema") && value !== null) forms.add(`${path} = ${String(value)}`);
  else if (path.endsWith(".marks")) for (const mark of String(value)) forms.add(`${path} has ${mark}`);
  else if (typeof value === "string" && /^["{]/.test(value)) {
    for (const line of value.trimEnd().split("\n")) if (isJson(line)) addJson(forms, path, JSON.parse(line));
  } else forms.add(`${path} ${value === null ? "null" : typeof value}`);
}

function addFrame(forms: Set<string>, text: string): void {
  const [head = "", ...lines] = text.split("\n");
  forms.add(`frame ${head.replaceAll(/\d+/g, "0")}`);
  for (const line of lines) if (/^.\{/.test(line)) addJson(forms, `frame ${line[0] ?? ""}`, JSON.parse(line.slice(1)));
}

function addJson(forms: Set<string>, path: string, value: unknown): void {
  if (Array.isArray(value)) for (const entry of value) addJson(forms, `${path}[]`, entry);
  else if (typeof value === "object" && value !== null) for (const [name, member] of Object.entries(value)) addJson(forms, `${path}.${name}`, member);
  else forms.add(`${path} ${value === null ? "null" : typeof value}`);
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    // A piece of a text that was cut.
    return false;
  }
}
