// Says verbs of docs/http-agents.md for a turn, for the adapters (js/sdk.js, js/verbs.js). The same rules are in
// src/executor/http/saying.rs.
import { jsonText } from "./json.js";
import { partJson } from "./parts.js";
import { insideOf } from "./turn.js";

const ENDS = ["complete", "fail", "reject", "input_required", "auth_required", "reply"];
const CONTENTS = ["text", "data", "raw", "url", "filename", "mediaType"];

/**
 * How complete an artifact is: more may follow, it was given whole, or its last piece was given.
 *
 * @typedef {"grows" | "whole" | "ended"} Extent
 */

/** The verbs of one answer. */
export class Saying {
  #turn;
  #link;
  #end;
  #unnamed = 0;
  /** The artifact that was begun last. @type {string | undefined} */
  #newest;
  /** The artifacts that this answer has begun or appended to. @type {Map<string, Extent>} */
  #extents = new Map();
  /**
   * The text that was appended in this turn of the event loop, and its artifact. The engine stores and shows texts at the pace of `EVENT_INTERVAL_MS`.
   *
   * @type {{ id: string, text: string, timer: ReturnType<typeof setTimeout> } | undefined}
   */
  #gathered;
  /** What went wrong when gathered text was said. @type {{ error: unknown } | undefined} */
  #trouble;
  /** The verb that ends the answer. @type {Record<string, unknown> | undefined} */
  #last;

  /** @param {import("../index.d.ts").Turn<any>} turn */
  constructor(turn) {
    const { link, end } = insideOf(turn);
    this.#turn = turn;
    this.#link = link;
    this.#end = end;
  }

  /** Whether a verb has ended the answer. */
  get hasEnded() {
    return this.#last !== undefined;
  }

  /**
   * Takes the next verb.
   *
   * @param {any} verb
   * @throws {Error} What is wrong with it.
   */
  take(verb) {
    if (this.#trouble !== undefined) throw this.#trouble.error;
    if (this.hasEnded) {
      throw new Error("it stands behind the end of the answer: exactly one verb ends it, and it is the last one");
    }
    if (ENDS.includes(verb?.do)) {
      // Said when the answer is over, so that what follows is noticed.
      this.#last = verb;
      return;
    }
    if (verb?.do === "append") return this.#append(verb);
    if (verb?.do !== "usage") this.#flush();
    if (verb?.do === "artifact") return this.#begin(verb);
    this.#link.call("say", jsonText(verb, "a verb"));
  }

  /** Ends the answer; gives what the function returns. */
  close() {
    if (this.#trouble !== undefined) throw this.#trouble.error;
    if (this.#last === undefined) throw new Error(`no verb has ended the answer; its last one is one of ${ENDS.join(", ")}`);
    this.#flush();
    for (const [id, extent] of this.#extents) if (extent === "grows") this.#link.call("append", id, "", true);
    const { parts, ...verb } = this.#last;
    return this.#end("the last verb", parts === undefined ? jsonText(verb, "a verb") : withParts(verb, partsOf({ parts })));
  }

  /** @param {any} verb */
  #begin(verb) {
    const { id = this.#nextId(), name, description, metadata, more = false } = verb;
    this.#link.call("say", withParts({ do: "artifact", id, name, description, metadata, more }, partsOf(verb)));
    this.#newest = id;
    this.#extents.set(id, more ? "grows" : "whole");
  }

  /** @param {any} verb */
  #append(verb) {
    const { id = this.#newest, last = false } = verb;
    if (id === undefined) {
      throw new Error("it appends to nothing: this answer has begun no artifact; begin one by `artifact`, or name one by `id`");
    }
    this.#refuseComplete(id);
    this.#extents.set(id, last ? "ended" : "grows");
    const parts = partsOf(verb);
    const [part] = parts;
    const isPlain = parts.length === 1 && typeof part?.text === "string" && Object.keys(part).length === 1;
    if (isPlain && !last) return this.#gather(id, part.text);
    this.#flush();
    if (isPlain) this.#link.call("append", id, part.text.toWellFormed(), true);
    else this.#link.call("say", withParts({ do: "append", id, last }, parts));
  }

  /** @param {string} id */
  #refuseComplete(id) {
    const extent = this.#extents.get(id);
    if (extent === "grows") return;
    if (extent !== undefined) {
      const fix = extent === "whole" ? 'give it with `"more": true`' : 'let only the last `append` have `"last": true`';
      throw new Error(`artifact ${id} is complete, so nothing can be appended to it: ${fix}`);
    }
    const task = /** @type {any} */ (this.#turn.task());
    const isKnown = task?.artifacts?.some((/** @type {any} */ { artifactId }) => artifactId === id);
    if (!isKnown) throw new Error(`artifact ${id} was never begun, so nothing can be appended to it`);
  }

  /** @param {string} id @param {string} text */
  #gather(id, text) {
    if (this.#gathered !== undefined && this.#gathered.id !== id) this.#flush();
    this.#gathered ??= { id, text: "", timer: setTimeout(() => this.#flushInTime(), 0) };
    this.#gathered.text += text;
  }

  #flushInTime() {
    try {
      this.#flush();
    } catch (error) {
      this.#trouble = { error };
    }
  }

  #flush() {
    if (this.#gathered === undefined) return;
    const { id, text, timer } = this.#gathered;
    clearTimeout(timer);
    this.#gathered = undefined;
    if (text !== "") this.#link.call("append", id, text.toWellFormed(), false);
  }

  /** The same in each attempt at a turn, and another one in each turn. */
  #nextId() {
    this.#unnamed += 1;
    return `artifact-${this.#turn.number}-${this.#unnamed}`;
  }
}

/** The parts of a verb, which has them in a list or describes one by its own members. @param {any} verb @returns {any[]} */
function partsOf(verb) {
  const own = Object.fromEntries(CONTENTS.filter((key) => verb[key] !== undefined).map((key) => [key, verb[key]]));
  const { parts = [own] } = verb;
  if (!Array.isArray(parts)) throw new TypeError("`parts` must be a list of parts");
  return parts;
}

/** A verb with parts as JSON. @param {Record<string, unknown>} verb @param {any[]} parts */
function withParts(verb, parts) {
  const json = jsonText(verb, "a verb");
  return `${json.slice(0, -1)},"parts":[${parts.map((part) => partJson(part, "a part of a verb")).join()}]}`;
}
