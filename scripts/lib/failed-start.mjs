// What wrangler says where the code of a Worker cannot be bundled, or throws at its start: for people, without what does not concern them.
import { plain } from "./process.mjs";

/** How long the rest of a message may take, which wrangler writes in one piece. */
const REST_MS = 100;

const THROWN = /service core:user:\S+ Uncaught (?:[A-Z]\w*: )?(.*)/;

/** Collects the lines of wrangler about code that fails. `failed` is called with each message, and with true if the code throws at its start. */
export class FailedStart {
  #failed;
  #lines;

  constructor(failed) {
    this.#failed = failed;
  }

  /** Takes the next line of wrangler. Returns true if it belongs to a message. */
  takes(line) {
    const text = plain(line);
    if (this.#lines !== undefined) return this.#lines.push(text) > 0;
    if (!/Build failed with \d+ error/.test(text) && !THROWN.test(text)) return false;
    this.#lines = [text];
    setTimeout(() => this.#tell(), REST_MS);
    return true;
  }

  #tell() {
    const lines = this.#lines;
    this.#lines = undefined;
    const [, thrown] = THROWN.exec(lines[0]) ?? [];
    if (thrown === undefined) return this.#failed(`The code of the Worker cannot be bundled:\n\n${squeezed(lines.slice(1))}`, false);
    // Behind the message is a trace with lines of the bundle, which nobody has written.
    const end = lines.findIndex((line, index) => index > 0 && /^\s*(?:at .*)?$/.test(line));
    const rest = lines.slice(1, end === -1 ? undefined : end);
    return this.#failed(`The code of the Worker fails at its start:\n\n${[thrown, ...rest].map((line) => `    ${line}`).join("\n")}`, true);
  }
}

/** The text of lines up to the next warning, with one empty line at most between two of them. */
function squeezed(lines) {
  const end = lines.findIndex((line) => line.includes("[WARNING]"));
  const own = end === -1 ? lines : lines.slice(0, end);
  return own.map((line) => line.trimEnd()).join("\n").replace(/\n{3,}/g, "\n\n").replace(/^\n+|\n+$/g, "");
}

/** A line of wrangler without its label. */
export const unlabeled = (line) => line.replace(/^(?:\u001b\[[0-9;]*m)*\[(?:wrangler:\w+|custom build)\](?:\u001b\[[0-9;]*m)* ?/, "");
