// What wrangler says where the code of a Worker cannot be bundled, or throws at its start: for people, without what does not concern them.
import { plain } from "./process.mjs";

/** How long the rest of a message may take, which wrangler writes in one piece. */
const REST_MS = 100;

const THROWN = /service core:user:\S+ Uncaught (?:[A-Z]\w*: )?(.*)/;

/** Collects the lines of wrangler about code that fails. `failed` is called with each message, and with true if the code throws at its start. */
export class FailedStart {
  #failed;
  #lines;
  #timer;

  constructor(failed) {
    this.#failed = failed;
  }

  /** Takes the next line of wrangler. Returns true if it belongs to a message. */
  takes(line) {
    const text = plain(line);
    if (this.#lines !== undefined) return this.#lines.push(text) > 0;
    if (!/Build failed with \d+ error/.test(text) && !THROWN.test(text)) return false;
    this.#lines = [text];
    this.#timer = setTimeout(() => this.end(), REST_MS);
    return true;
  }

  /** There are no more lines: tells what has been taken. */
  end() {
    const lines = this.#lines;
    if (lines === undefined) return undefined;
    clearTimeout(this.#timer);
    this.#lines = undefined;
    const [, thrown] = THROWN.exec(lines[0]) ?? [];
    if (thrown === undefined) return this.#failed(`The code of the Worker cannot be bundled:\n\n${ownText(lines.slice(1))}`, false);
    // wrangler puts an empty line behind the first one.
    const text = ownText([`  ${thrown}`, ...lines.slice(lines[1] === "" ? 2 : 1)]).replace(/^ {0,2}(?=.)/gm, "    ");
    return this.#failed(`The code of the Worker fails at its start:\n\n${text}`, true);
  }
}

/**
 * The text of a message that wrangler has indented by two spaces, with one empty line at most between two lines: up to its trace, which has lines of the
 * bundle that nobody has written, or to the next message.
 */
function ownText(lines) {
  const end = lines.findIndex((line) => /^\s*at .*:\d+:\d+\)?(?: in \S+)?$|\[WARNING\]|\[ERROR\] The Workers runtime/.test(line));
  const own = end === -1 ? lines : lines.slice(0, end);
  return own.map((line) => line.trimEnd()).join("\n").replace(/\n{3,}/g, "\n\n").replace(/^\n+|\n+$/g, "");
}

/** A line of wrangler without its label. */
export const unlabeled = (line) => line.replace(/^(?:\u001b\[[0-9;]*m)*\[(?:wrangler:\w+|custom build)\](?:\u001b\[[0-9;]*m)* ?/, "");
