// The file of an export: a line for the export, lines for tasks, after each page a line with the cursor behind it, and a line for the end.
//
// A program that is killed may leave a line that is cut, and tasks behind the last cursor: an export that goes on removes both first.
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { EXIT, Failure } from "./failure.mjs";
import { jsonLine } from "./text.mjs";
import { record, text } from "./values.mjs";

const PIECE = 64 * 1024;

/** Where an export goes on: at the page of this token, of this agent. */
export const cursorOf = (agent, token) => Buffer.from(JSON.stringify([agent, token])).toString("base64url");

/** The agent and the token of a cursor. @throws {Failure} if the text is none */
export function readCursor(cursor) {
  try {
    const [agent, token] = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (typeof agent === "string" && typeof token === "string") return { agent, token };
  } catch {
    // It is no cursor.
  }
  throw new Failure(`"${cursor}" is no cursor of an export; take the one that the export told.`, EXIT.usage);
}

/** A file to which an export is written, and on which it goes on. */
export class ExportFile {
  #path;
  #file;
  /** The cursor at which the export goes on; undefined at its beginning. */
  cursor;
  /** True if the file has the whole export. */
  isWhole = false;

  /** Opens the file. @throws {Failure} if it holds something else, or an export of another owner or server */
  constructor(path, { server, owner }) {
    this.#path = path;
    const has = existsSync(path);
    try {
      this.#file = openSync(path, has ? "r+" : "wx", 0o600);
    } catch (error) {
      throw new Failure(`${path} cannot be written: ${error.message}.`, EXIT.usage);
    }
    const opening = { type: "export", server, owner };
    const kept = has ? this.#read(opening) : 0;
    ftruncateSync(this.#file, kept);
    this.#end = kept;
    if (kept === 0) this.line(opening);
  }

  #end = 0;

  /** Finds the last cursor. Returns the number of bytes up to the end of its line. */
  #read(opening) {
    const other = () =>
      new Failure(`${this.#path} holds something else than an export of ${opening.owner} at ${opening.server}. Name another file.`, EXIT.usage);
    let [kept, at] = [0, 0];
    for (const { line, end } of this.#lines()) {
      let value;
      try {
        value = record(JSON.parse(line));
      } catch {
        value = {};
      }
      if (at === 0 && (value.type !== "export" || value.server !== opening.server || value.owner !== opening.owner)) throw other();
      if (at === 0 || value.type === "cursor" || value.type === "end") kept = end;
      if (value.type === "cursor") this.cursor = text(value.cursor);
      this.isWhole = value.type === "end";
      at = end;
    }
    // Not one whole line: the first one was cut, or it is another file.
    if (at === 0 && !`${jsonLine(opening)}\n`.startsWith(readFileSync(this.#path, "utf8"))) throw other();
    return kept;
  }

  /** The whole lines of the file, each with the place behind it. */
  *#lines() {
    const piece = Buffer.alloc(PIECE);
    let [left, place] = [Buffer.alloc(0), 0];
    for (let read = readSync(this.#file, piece, 0, PIECE, 0), from = read; read > 0; read = readSync(this.#file, piece, 0, PIECE, from), from += read) {
      left = Buffer.concat([left, piece.subarray(0, read)]);
      for (let end = left.indexOf(10); end >= 0; end = left.indexOf(10)) {
        place += end + 1;
        yield { line: left.subarray(0, end).toString(), end: place };
        left = left.subarray(end + 1);
      }
    }
  }

  /** Writes a line. */
  line(value) {
    const bytes = Buffer.from(`${jsonLine(value)}\n`);
    this.#end += writeSync(this.#file, bytes, 0, bytes.length, this.#end);
  }

  /** Writes the cursor behind a page. What is before it is not read again. */
  mark(cursor) {
    this.line({ type: "cursor", cursor });
    fsyncSync(this.#file);
  }

  close() {
    fsyncSync(this.#file);
    closeSync(this.#file);
  }
}
