// Tables whose rows are printed while they come: the first rows decide the widths.
import { clean, cut, padded, widthOf } from "./text.mjs";

/** The number of rows by which the widths are chosen. */
const SAMPLE = 100;
const GAP = "  ";
/** The least width of a column that is cut to fit the terminal. */
const LEAST = 8;
/** The longest cell, in UTF-16 units. */
const MAX_UNITS = 4000;
/** The width for which columns are left out, so that the last one has it. */
const ROOM = 24;
/** The width of a column that is left out. */
const LEFT_OUT = -1;

export class Table {
  #print;
  #columns;
  #waiting = [];
  #widths;

  /**
   * `columns` have a `name`, `isRight` for numbers, and a `least` width where rows come one by one. Where a terminal is narrow the columns with an `extra`
   * are left out, those with higher ones first, until the last column has some room; then the cells of the last columns are cut. Those of `isWhole` never are.
   */
  constructor(print, columns) {
    this.#print = print;
    this.#columns = columns;
  }

  /** Adds a row. A cell is a text, or `{ text, tone }`; undefined is empty. */
  async row(cells) {
    const row = cells.map((cell) => (typeof cell === "object" && cell !== null ? { text: safe(cell.text), tone: cell.tone } : { text: safe(cell) }));
    if (this.#widths !== undefined) return this.#write(row);
    this.#waiting.push(row);
    if (this.#waiting.length >= SAMPLE) await this.flush();
  }

  /** Prints the head and the rows that wait for widths. */
  async flush() {
    if (this.#widths !== undefined || this.#waiting.length === 0) return;
    this.#widths = this.#columns.map(({ name, least = 0 }, at) =>
      Math.max(least, widthOf(name), ...this.#waiting.map((row) => widthOf(row[at].text))),
    );
    const room = this.#print.columns;
    if (room !== undefined) {
      this.#leaveOut(room);
      this.#shrink(room);
    }
    await this.#write(this.#columns.map(({ name }) => ({ text: name, tone: "head" })));
    for (const row of this.#waiting.splice(0)) await this.#write(row);
  }

  /** The width of the whole table, with this one of the last column. */
  #width(last = this.#widths.at(-1)) {
    const shown = this.#widths.map((width, at) => (at === this.#widths.length - 1 ? last : width)).filter((width) => width !== LEFT_OUT);
    return shown.reduce((sum, width) => sum + width, GAP.length * (shown.length - 1));
  }

  #leaveOut(room) {
    const extras = [...this.#columns.entries()].filter(([, { extra }]) => extra !== undefined).sort(([, one], [, other]) => other.extra - one.extra);
    for (const [at] of extras) if (this.#width(Math.min(this.#widths.at(-1), ROOM)) > room) this.#widths[at] = LEFT_OUT;
  }

  #shrink(room) {
    let over = this.#width() - room;
    for (let at = this.#columns.length - 1; at >= 0 && over > 0; at -= 1) {
      if (this.#columns[at].isWhole || this.#widths[at] === LEFT_OUT) continue;
      const goes = Math.max(0, Math.min(over, this.#widths[at] - Math.max(LEAST, widthOf(this.#columns[at].name))));
      this.#widths[at] -= goes;
      over -= goes;
    }
    // Later rows may be longer than those that have decided.
    if (over < 0) this.#widths[this.#widths.length - 1] -= over;
  }

  #write(row) {
    const isCut = this.#print.columns !== undefined;
    const cells = row.map(({ text, tone }, at) => {
      const { isRight, isWhole } = this.#columns[at];
      const shown = isCut && !isWhole ? cut(text, this.#widths[at]) : text;
      const filled = at === row.length - 1 && !isRight ? shown : padded(shown, this.#widths[at], isRight);
      return this.#widths[at] === LEFT_OUT ? undefined : this.#print.toned(filled, tone);
    });
    return this.#print.line(
      cells
        .filter((cell) => cell !== undefined)
        .join(GAP)
        .trimEnd(),
    );
  }
}

/** A cell on one line, of a length that can be measured in no time. */
const safe = (text) => clean(String(text ?? "").slice(0, MAX_UNITS));
