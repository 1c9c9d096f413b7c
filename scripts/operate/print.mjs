// The output of the commands for operators: results on stdout, everything else on stderr. Colours and progress are for terminals alone.
import { clean, cleanLines, cut } from "./text.mjs";

const TONES = { good: 32, bad: 31, busy: 36, wait: 33, idle: 2, quiet: 2, head: 1 };
const BAR = 24;
/** How long a command takes before it shows how far it is, and how often that is written. */
const QUIET_MS = 500;
const PROGRESS_MS = 100;

export class Print {
  /** True if stdout is a terminal. */
  isTerminal;
  #hasColour;
  #hasProgress;
  #isShowing = false;
  #shownAt = Date.now() + QUIET_MS - PROGRESS_MS;

  constructor({ stdout = process.stdout, stderr = process.stderr, env = process.env } = {}) {
    const isPlain = (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
    this.stdout = stdout;
    this.stderr = stderr;
    this.isTerminal = stdout.isTTY === true;
    this.#hasColour = this.isTerminal && !isPlain;
    this.#hasProgress = stderr.isTTY === true && env.TERM !== "dumb";
    // The reader of a pipe, such as head, may have enough.
    stdout.on("error", (error) => process.exit(error.code === "EPIPE" ? 0 : 1));
  }

  /** The width of the terminal; undefined for lines of any length. */
  get columns() {
    return this.isTerminal ? Math.max(20, this.stdout.columns || 80) : undefined;
  }

  /** Writes a line of the result, and waits until it was taken. The text is safe already. */
  async line(text = "") {
    this.clear();
    if (!this.stdout.write(`${text}\n`)) await new Promise((resolve) => this.stdout.once("drain", resolve));
  }

  /** Writes lines for people beside the result. They may have parts of answers. */
  note(text) {
    this.clear();
    this.stderr.write(`${cleanLines(text).join("\n")}\n`);
  }

  /** The text in the colour of a tone, on terminals with colours. */
  toned(text, tone) {
    return this.#hasColour && tone in TONES ? `\x1b[${TONES[tone]}m${text}\x1b[0m` : text;
  }

  /** Shows how far a command is, in place of what was shown before. Without `total` there is no bar. */
  progress(what, done, total) {
    const now = Date.now();
    if (!this.#hasProgress || now - this.#shownAt < PROGRESS_MS) return;
    this.#shownAt = now;
    const full = total > 0 ? Math.min(BAR, Math.floor((BAR * done) / total)) : 0;
    const bar = total > 0 ? `[${"#".repeat(full)}${".".repeat(BAR - full)}] ` : "";
    const text = `${bar}${clean(what)}: ${done}${total > 0 ? ` of ${total}` : ""}`;
    this.stderr.write(`\r\x1b[2K${cut(text, Math.max(20, this.stderr.columns || 80) - 1)}`);
    this.#isShowing = true;
  }

  /** Removes the progress. */
  clear() {
    if (this.#isShowing) this.stderr.write("\r\x1b[2K");
    this.#isShowing = false;
  }
}
