// A text that streams into an artifact, as a step.
import { jsonText } from "./json.js";
import { isPart, partJson, textPart } from "./parts.js";
import { durable } from "./steps.js";

/** @typedef {import("./link.js").Link} Link */
/** @typedef {import("../index.d.ts").Part} Part */
/** @typedef {import("../index.d.ts").WriteSource} WriteSource */
/** @typedef {import("../index.d.ts").Json} Json */

/**
 * Writes a source into the artifact of an id, once.
 *
 * @param {Link} link @param {WriteSource} source @param {string} id
 * @param {string} about The JSON of further members of the artifact, with a comma before each.
 * @returns {Promise<string>} The whole text.
 */
export async function write(link, source, id, about) {
  const pieces = readerOf(link, source);
  const begun = link.call("beginWrite", id);
  let text;
  await durable(link, `write ${id}`, begun, async () => {
    const artifact = new Growing(link, id, about);
    await pieces(artifact);
    text = artifact.end();
    return "null";
  });
  return text ?? writtenText(link, id);
}

/** Whether a value is a stream that `write` takes. @param {unknown} value @returns {value is AsyncIterable<unknown>} */
export const isStream = (value) => typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/** The text of an artifact that an earlier attempt has written. @param {Link} link @param {string} id */
function writtenText(link, id) {
  /** @type {{ artifacts?: { artifactId: string, parts: { text?: string }[] }[] }} */
  const task = JSON.parse(link.call("task") || "{}");
  const artifact = task.artifacts?.find(({ artifactId }) => artifactId === id);
  return artifact?.parts.map(({ text = "" }) => text).join("") ?? "";
}

/**
 * The function that passes what a source gives to an artifact.
 *
 * @param {Link} link @param {WriteSource} source @returns {(artifact: Growing) => Promise<void>}
 */
function readerOf(link, source) {
  if (typeof source === "function") return async (artifact) => void (await source({ write: (piece) => artifact.add(piece) }));
  if (!isStream(source)) {
    const forms = "an async iterable, a ReadableStream, or a function that gets { write }";
    throw new TypeError(`turn.write() takes ${forms}; for a whole text use turn.artifact()`);
  }
  return async (artifact) => {
    const decoder = new TextDecoder();
    for await (const piece of link.read(source)) {
      artifact.add(piece instanceof Uint8Array ? decoder.decode(piece, { stream: true }) : /** @type {string | Part} */ (piece));
    }
    artifact.add(decoder.decode());
  };
}

/**
 * An artifact that grows by pieces. Those that come in one turn of the event loop are passed to the engine together, which stores and shows pieces at the
 * pace of `EVENT_INTERVAL_MS`.
 */
class Growing {
  #link;
  #id;
  #about;
  #text = "";
  #gathered = "";
  #hasBegun = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {Link} link @param {string} id @param {string} about */
  constructor(link, id, about) {
    this.#link = link;
    this.#id = JSON.stringify(id);
    this.#about = about;
    this.id = id;
  }

  /** @param {string | Part} piece */
  add(piece) {
    this.#link.refuseWhenOver();
    if (typeof piece === "string") {
      this.#text += piece;
      this.#gathered += piece;
      if (piece !== "") this.#timer ??= setTimeout(() => this.#flushInTime(), 0);
      return;
    }
    const what = `a piece of artifact ${this.#id}`;
    if (!isPart(piece)) throw new TypeError(`${what} must be a text or a part, got ${jsonText(piece, what)}`);
    this.#flush();
    const part = partJson(piece, what);
    if ("text" in piece) this.#text += piece.text;
    if (this.#hasBegun) this.#link.call("say", `{"do":"append","id":${this.#id},"parts":[${part}]}`);
    else this.#begin(part, true);
  }

  /** Completes the artifact; gives its whole text. */
  end() {
    clearTimeout(this.#timer);
    if (this.#hasBegun) this.#link.call("append", this.id, this.#gathered.toWellFormed(), true);
    else this.#begin(textPart(this.#gathered), false);
    return this.#text;
  }

  #flushInTime() {
    try {
      this.#flush();
    } catch {
      // Whatever is wrong, the next piece meets it, too.
    }
  }

  /** Passes on what was gathered. The first half of a surrogate pair waits for the second. */
  #flush() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const isHalf = /[\ud800-\udbff]$/.test(this.#gathered);
    const text = isHalf ? this.#gathered.slice(0, -1) : this.#gathered;
    if (text === "") return;
    if (this.#hasBegun) this.#link.call("append", this.id, text.toWellFormed(), false);
    else this.#begin(textPart(text), true);
    this.#gathered = isHalf ? this.#gathered.slice(-1) : "";
  }

  /** @param {string} part @param {boolean} hasMore */
  #begin(part, hasMore) {
    this.#link.call("say", `{"do":"artifact","id":${this.#id}${this.#about},"parts":[${part}]${hasMore ? ',"more":true' : ""}}`);
    this.#hasBegun = true;
  }
}
