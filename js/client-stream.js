// One client's stream, without its socket: converts the frames of the object into text for the client, and chooses the request
// to the object after the socket has dropped. Pure; `stream.js` has the socket.
//
// This module tracks the position: after a drop, the events after the position are requested from the object. Before the first
// frame has arrived, the client's request is repeated: an object recognizes a repeated send, and an object that died before it
// stored the message receives the message again.
//
// `src/session/followers/frame.rs` defines the frames.

/**
 * The data from which a stream is made; `src/front/stream.rs` writes it.
 *
 * @typedef {object} Plan
 * @property {[string, string]} resume the request to the object after a drop: these two texts with the id of the task between
 *   them, followed by the position and `}`
 * @property {boolean} [begins] true if this is the first request to the object
 * @property {boolean} [isTurn] true if the stream ends when the task asks for input
 * @property {boolean} [isNew] true if the stream may begin with the first event of a task, instead of a snapshot
 * @property {number | null} position the generation of the newest event that the client has received
 * @property {boolean} [showsGeneration] true if the metadata of the first event of a task contains its generation
 * @property {[key: string, most: number]} [quota] what the stream counts as for its caller, and how many of these there may be
 * @property {string | null} form the form of the client, for `Words.event`; null for 1.0, whose events are passed on as they are
 * @property {boolean} [refusesByStream] true if a refusal has to be a stream of one event
 * @property {string} before the text before the JSON of each event, in the client's binding
 * @property {string} behind the text after the JSON of each event
 * @property {Record<string, string>} headers the headers of the stream, besides those of all answers
 */

/**
 * An answer in place of a stream.
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {Record<string, string>} headers in addition to the common headers
 * @property {string} body
 */

/**
 * Texts that only Rust can write, in the client's form. Rarely called.
 *
 * @typedef {object} Words
 * @property {(failure: Failure, hasBegun: boolean, limit: number) => Answer} refuse the answer with a failure
 * @property {(json: string) => string} opening the first event of a task, with the generation in its metadata
 * @property {(form: string, json: string, generation: number | undefined, state: string) => string} event the form of an event
 *   in an older version, see `event_text` in `src/front/stream.rs`
 */

/** @typedef {"failed" | "other-version" | "too-many" | "over-quota"} Failure */

/** The codes with which a socket between the front Worker and an object is closed, see `src/edge/socket.rs`. */
export const CloseCode = Object.freeze({ over: 1000, more: 4000, tooSlow: 4001, unreadable: 4002, unavailable: 4003 });

/**
 * The header of an upgrade with the hello. In the answer it is the first frame, with tabs in place of line feeds, or empty (src/forms/ask.rs).
 */
export const HELLO = "x-follow";

/** A comment, which clients ignore: keeps a silent stream alive. */
export const HEARTBEAT = ": keep-alive\n\n";

/** One client's stream. */
export class ClientStream {
  /** True if a frame has begun the stream. */
  hasBegun = false;
  /** True if the stream has ended. */
  isOver = false;
  /** True if the object has sent its last frame and will close the socket; false if only the client's turn is over. */
  isLeftToObject = false;
  /** The answer to the client if there is no stream. @type {Answer | undefined} */
  refusal;
  /** The last event of a stream that breaks off. */
  lastWord = "";
  /** The generation of the newest event that the client has received; null before the first. @type {number | null} */
  #position;
  #hasGap = false;
  /** The position behind which an event was missing the last time. @type {number | undefined} */
  #gapAt;
  /** The number of failed connections, dropped sockets and frames of no use in a row, without a frame in between. */
  #failures = 0;
  /** The state of the conversion for a client of an older version, after the last event. */
  #state = "";
  /** True if the object, or its frames, belong to an incompatible version. */
  #isUnreadable = false;
  #plan;
  #task;
  #hello;
  #words;

  /**
   * @param {Plan} plan
   * @param {string} task the id of the task
   * @param {string} hello the first message to the object; empty if it equals those after a drop
   * @param {Words} words
   */
  constructor(plan, task, hello, words) {
    this.#plan = plan;
    this.#task = task;
    this.#hello = hello;
    this.#words = words;
    this.#position = plan.position;
  }

  /** The message to the object when a socket is opened. */
  hello() {
    return this.hasBegun || this.#hello === "" ? this.resume() : this.#hello;
  }

  /** The message to the object after a drop. */
  resume() {
    const [before, behind] = this.#plan.resume;
    return `${before}${this.#task}${behind}${this.#position}}`;
  }

  /** True if an event or a readable frame is missing since the last call: the socket cannot be used any more. */
  takeGap() {
    const hasGap = this.#hasGap;
    this.#hasGap = false;
    return hasGap;
  }

  /**
   * The pause before the next connection, in milliseconds, which grows with each failure. After too many failures the stream
   * ends: undefined. A stream that has not begun is refused as soon as a call without a stream would be.
   */
  pauseMs() {
    if (this.#failures > (this.hasBegun ? MAX_FAILURES : MAX_FIRST_FAILURES)) {
      this.endWith(this.#isUnreadable ? "other-version" : "failed");
      return undefined;
    }
    return this.#failures === 0 ? 0 : Math.min(FIRST_PAUSE_MS << Math.min(this.#failures, 8), MAX_PAUSE_MS);
  }

  /** Counts a failed connection. */
  noteFailure() {
    this.#failures += 1;
  }

  /** Handles the end of the socket, which was closed with this code. @param {number} code */
  noteClosed(code) {
    if (code === CloseCode.unreadable) {
      this.#isUnreadable = true;
      this.#failures += 1;
    } else if (code === CloseCode.over && this.#position !== null) {
      this.isOver = true;
    } else if (code !== CloseCode.more && code !== CloseCode.tooSlow) {
      this.#failures += 1;
    }
  }

  /**
   * The text for the client from a frame; empty if the client has already received the events. Undefined for a frame that this
   * version cannot read: the next request to the object is then sent only after a pause, because an object that repeats the
   * frame would otherwise receive requests without end.
   *
   * @param {unknown} frame
   * @returns {string | undefined}
   */
  take(frame) {
    const at = typeof frame === "string" ? frame.indexOf("\n") : -1;
    if (typeof frame !== "string" || at < 0) return this.#unreadable();
    const rest = frame.slice(at + 1);
    switch (frame[0]) {
      case "E":
      case "S": {
        const generation = wholeNumber(frame.slice(1, at));
        if (generation === undefined) return this.#unreadable();
        return frame[0] === "E" ? this.#events(generation, rest) : this.#snapshot(generation, rest);
      }
      case "M":
        this.hasBegun = true;
        this.#end();
        return this.#event(undefined, rest.slice(1));
      case "R":
        if (this.hasBegun) return "";
        this.hasBegun = true;
        return HEARTBEAT;
      case "X": {
        const [status = "", ...told] = frame.slice(1, at).split(" ");
        const number = wholeNumber(status);
        return number === undefined ? this.#unreadable() : this.#refused(number, told.join(" "), rest);
      }
      default:
        return this.#unreadable();
    }
  }

  /**
   * Gives up: with an answer, or with a last event if the stream has begun.
   *
   * @param {Failure} failure
   * @param {number} [limit] the largest number of streams of a task, if there are too many
   */
  endWith(failure, limit = 0) {
    const answer = this.#words.refuse(failure, this.hasBegun, limit);
    this.isOver = true;
    if (this.hasBegun) this.lastWord = errorEvent(answer.body);
    else this.refusal = this.#answer(answer);
  }

  #unreadable() {
    this.#isUnreadable = true;
    this.#failures += 1;
    this.#hasGap = true;
    return undefined;
  }

  /** @param {number} generation @param {string} line */
  #snapshot(generation, line) {
    if (this.#position !== null) return "";
    this.#advance(generation, line);
    return this.#event(generation, line.slice(1));
  }

  /** @param {number} first @param {string} lines */
  #events(first, lines) {
    let text = "";
    let generation = first;
    for (let from = 0; from < lines.length && !this.isOver; generation += 1) {
      const to = lines.indexOf("\n", from);
      const line = to < 0 ? lines.slice(from) : lines.slice(from, to);
      from = to < 0 ? lines.length : to + 1;
      // A stream without a position begins with a snapshot, which will include this event, or with the first event of a new
      // task.
      const position = this.#position ?? (this.#plan.isNew && generation === 1 ? 0 : null);
      if (position === null) return text;
      if (generation <= position) continue;
      if (generation !== position + 1) {
        this.#hasGap = true;
        // An object that repeats the frame would otherwise receive requests without end.
        if (this.#gapAt === position) this.#failures += 1;
        this.#gapAt = position;
        return text;
      }
      this.#advance(generation, line);
      const json = line.slice(1);
      const isOpening = generation === 1 && this.#plan.showsGeneration;
      text += this.#event(generation, isOpening ? this.#words.opening(json) : json);
    }
    return text;
  }

  /** @param {number} status @param {string} told @param {string} body */
  #refused(status, told, body) {
    this.#end();
    if (this.hasBegun) return errorEvent(body);
    this.refusal = this.#answer({ status, headers: { "content-type": "application/json", ...headersOf(told) }, body });
    return "";
  }

  /** @param {number | undefined} generation undefined for a message in place of a task @param {string} json */
  #event(generation, json) {
    const { form, before, behind } = this.#plan;
    if (form !== null) return this.#olderEvent(form, generation, json);
    const id = generation === undefined ? "" : `id: ${generation}\n`;
    return `${id}data: ${before}${json}${behind}\n\n`;
  }

  /** @param {string} form @param {number | undefined} generation @param {string} json */
  #olderEvent(form, generation, json) {
    const event = this.#words.event(form, json, generation, this.#state);
    if (event === "") return "";
    const at = event.indexOf("\n");
    this.#state = event.slice(1, at);
    if (event[0] === "1") this.isOver = true;
    return event.slice(at + 1);
  }

  /** A refusal in the form that the client requires. @param {Answer} answer @returns {Answer} */
  #answer(answer) {
    if (!this.#plan.refusesByStream || answer.status !== 200) return answer;
    return { ...answer, headers: { ...answer.headers, ...this.#plan.headers }, body: `data: ${answer.body}\n\n` };
  }

  /** @param {number} generation @param {string} line with its mark, see `src/session/journal/mark.rs` */
  #advance(generation, line) {
    this.#position = generation;
    this.hasBegun = true;
    this.#failures = 0;
    this.#isUnreadable = false;
    // The hello may be as large as a message; it is not needed any more.
    this.#hello = "";
    if (line[0] === "T") this.#end();
    // In older versions the event itself defines if the stream ends with it.
    else if (line[0] === "I" && this.#plan.form === null) this.isOver = this.#plan.isTurn === true;
  }

  #end() {
    this.isOver = true;
    this.isLeftToObject = true;
  }
}

/** The last event of a stream that breaks off, with the body of an error answer. @param {string} body */
function errorEvent(body) {
  return `event: error\ndata: ${body}\n\n`;
}

/** The headers of a refusal from its frame; empty if they are not a JSON object. @param {string} text */
function headersOf(text) {
  try {
    const told = Object.entries(JSON.parse(text));
    return Object.fromEntries(told.filter(([, value]) => typeof value === "string"));
  } catch {
    return {};
  }
}

/** @param {string} text */
function wholeNumber(text) {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

const FIRST_PAUSE_MS = 25;
const MAX_PAUSE_MS = 5_000;

/** The number of failures in a row after which a stream that has begun ends: about a minute. */
const MAX_FAILURES = 20;

/** The number of failures in a row after which a stream without a first frame ends: a fraction of a second. */
const MAX_FIRST_FAILURES = 2;
