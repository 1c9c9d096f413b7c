// A stream of server-sent events on one side, a socket to the task's object on the other.
//
// The front Worker holds the client's connection, so that the object can be evicted while nothing happens. It is done
// here and not in Rust because each event would otherwise cost futures, timers and crossings into WebAssembly. What a frame or
// a closed socket means is decided in `client-stream.js`; here are the socket, the client's bytes and the timers.

import { ClientStream, CloseCode, HEARTBEAT } from "./client-stream.js";

/** @import { Plan } from "./client-stream.js" */

/**
 * What of the namespace of objects is needed.
 *
 * @typedef {object} Namespace
 * @property {(text: string) => unknown} idFromString
 * @property {(id: any) => { fetch(url: string, init: { headers: Record<string, string> }): Promise<Upgrade> }} get
 */

/** @typedef {{ status: number, headers: { get(name: string): string | null }, webSocket?: Socket | null }} Upgrade */

/**
 * The front's end of a socket.
 *
 * @typedef {object} Socket
 * @property {(type: "message" | "close" | "error", listener: (event: { data?: unknown, code?: number }) => void) => void} addEventListener
 * @property {() => void} accept
 * @property {(text: string) => void} send
 * @property {(code: number, reason: string) => void} close
 */

/**
 * The functions of the WebAssembly module that are called here, see `src/edge/front/stream/mod.rs`. None waits.
 *
 * @typedef {object} Rust
 * @property {(hello: string, failure: string, hasBegun: boolean, limit: number) => string} streamRefusal an `Answer` as JSON
 * @property {(json: string) => string} streamOpening
 * @property {(form: string, json: string, generation: number | undefined, state: string) => string} streamEvent
 * @property {(task: string, reason: string | undefined) => void} streamTrouble logs that the object did not answer for this
 *   reason, or without one that it sent a frame that cannot be read
 */

/**
 * Opens a stream: what the object says first decides whether the answer is a stream or a refusal.
 *
 * @param {Namespace} namespace the namespace of the task objects
 * @param {string} address the id of the object
 * @param {string} plan a `Plan` as one line of JSON, and in the next line what to tell the object first
 * @param {Rust} rust
 * @returns {Promise<Response>} what the client gets, to be passed on as it is
 */
export function open(namespace, address, plan, rust) {
  return new Bridge(namespace, address, plan, rust).open();
}

class Bridge {
  #namespace;
  #address;
  /** @type {Plan} */
  #plan;
  #rust;
  #stream;
  /** Whether nobody has asked the object anything before. */
  #begins;
  /** The socket to the object, once it is open. @type {Socket | undefined} */
  #socket;
  /** The client's end, once the stream has begun. @type {ReadableStreamDefaultController | undefined} */
  #client;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  /** Whether a socket is to be opened once the client has read everything. */
  #waitsForRoom = false;
  /** Whether the client has its last byte, or has left. */
  #isDone = false;
  /** @type {(response: Response) => void} */
  #answer = () => {};
  /** @type {(reason: unknown) => void} */
  #fail = () => {};

  /** @param {Namespace} namespace @param {string} address @param {string} plan @param {Rust} rust */
  constructor(namespace, address, plan, rust) {
    const end = plan.indexOf("\n");
    this.#namespace = namespace;
    this.#address = address;
    this.#plan = JSON.parse(plan.slice(0, end));
    this.#rust = rust;
    this.#begins = this.#plan.begins;
    this.#stream = new ClientStream(this.#plan, address, plan.slice(end + 1), {
      refuse: (failure, hasBegun, limit) => JSON.parse(rust.streamRefusal(this.#stream.resume(), failure, hasBegun, limit)),
      opening: (json) => rust.streamOpening(json),
      event: (form, json, generation, state) => rust.streamEvent(form, json, generation, state),
    });
  }

  /** @returns {Promise<Response>} */
  open() {
    return new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
      this.#connect();
    });
  }

  /** Connects to the object, after the pause that the stream wants, as often as it wants. */
  async #connect() {
    try {
      while (!this.#isDone && this.#socket === undefined) {
        const pause = this.#stream.pauseMs();
        if (pause === undefined) return this.#finish();
        if (pause > 0) await sleep(pause * (0.5 + Math.random() / 2));
        if (this.#isDone) return;
        await this.#tryToConnect();
        if (this.#stream.isOver) return this.#finish();
      }
    } catch (error) {
      this.#giveUp(error);
    }
  }

  async #tryToConnect() {
    const hello = this.#stream.hello();
    const head = headerOf(hello);
    const url = this.#begins ? "https://task/begin" : "https://task/";
    this.#begins = false;
    let answer;
    try {
      // A new stub each time: after a failure the old one may stay broken.
      const stub = this.#namespace.get(this.#namespace.idFromString(this.#address));
      answer = await stub.fetch(url, { headers: { upgrade: "websocket", ...head } });
    } catch (error) {
      return this.#note(error instanceof Error ? error.message : String(error));
    }
    const socket = answer.webSocket;
    if (socket == null) {
      if (answer.status !== TOO_MANY) return this.#note(`it answered ${answer.status}`);
      return this.#stream.endWith("too-many", Number(answer.headers.get("x-limit")));
    }
    const ended = (/** @type {{ code?: number }} */ { code = 0 }) => this.#lost(socket, code);
    socket.addEventListener("message", ({ data }) => this.#receive(socket, data));
    socket.addEventListener("close", ended);
    // An error is followed by no close event when the other side is gone.
    socket.addEventListener("error", ended);
    socket.accept();
    if (this.#isDone) return close(socket, CloseCode.over);
    this.#socket = socket;
    // An object of an earlier version has not read the header.
    if (head === undefined || answer.headers.get(HELLO) === null) socket.send(hello);
  }

  /** @param {string} reason */
  #note(reason) {
    this.#rust.streamTrouble(this.#address, reason);
    this.#stream.noteFailure();
  }

  /** @param {Socket} socket @param {unknown} frame */
  #receive(socket, frame) {
    if (socket !== this.#socket || this.#isDone) return;
    try {
      const text = this.#stream.take(frame);
      if (text === undefined) this.#rust.streamTrouble(this.#address, undefined);
      if (text) this.#write(text);
      if (this.#stream.isOver) this.#finish();
      else if (this.#stream.takeGap()) this.#connectAgain(CloseCode.over);
      else if (this.#queued() > MAX_QUEUED_BYTES) this.#connectAgain(CloseCode.tooSlow);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  /** The socket was closed by the object, or is lost. @param {Socket} socket @param {number} code */
  #lost(socket, code) {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    if (this.#isDone) return clearInterval(this.#timer);
    this.#stream.noteClosed(code);
    if (this.#stream.isOver) this.#finish();
    else this.#connectWithRoom();
  }

  /** @param {number} code with which the socket is closed */
  #connectAgain(code) {
    this.#drop(code);
    this.#connectWithRoom();
  }

  /** Connects when the client has read everything: what comes next may be a page of the log. */
  #connectWithRoom() {
    this.#waitsForRoom = this.#queued() > 0;
    if (!this.#waitsForRoom) this.#connect();
  }

  /** How much waits for the client, in bytes. */
  #queued() {
    return -(this.#client?.desiredSize ?? 0);
  }

  /** @param {string} text */
  #write(text) {
    if (this.#client === undefined) this.#begin();
    this.#client?.enqueue(encoder.encode(text));
  }

  #begin() {
    const body = new ReadableStream({
      start: (client) => {
        this.#client = client;
      },
      pull: () => {
        if (!this.#waitsForRoom) return;
        this.#waitsForRoom = false;
        this.#connect();
      },
      cancel: () => this.#leave(),
    }, { highWaterMark: 0, size: (chunk) => chunk.byteLength });
    this.#timer = setInterval(() => this.#tick(), SILENCE_MS);
    this.#answer(new Response(body, { headers: this.#plan.headers }));
  }

  #tick() {
    // The object closes the socket soon after its last word. It may have died before it did.
    if (this.#isDone) this.#leave();
    else if (this.#queued() === 0) this.#write(HEARTBEAT);
  }

  /** Ends the client's stream, or answers without one. */
  #finish() {
    if (this.#isDone) return;
    const { refusal, lastWord, isLeftToObject } = this.#stream;
    if (this.#client === undefined) {
      // The client has every event of a task that has ended. This answer, unlike an empty stream, makes an `EventSource`
      // stop connecting again.
      const { status, headers, body } = refusal ?? { status: 204, headers: {}, body: null };
      this.#answer(new Response(body, { status, headers: { ...this.#plan.every, ...headers } }));
    } else {
      if (lastWord !== "") this.#write(lastWord);
      this.#client.close();
    }
    this.#isDone = true;
    if (!isLeftToObject) this.#drop(CloseCode.over);
    if (this.#socket === undefined) clearInterval(this.#timer);
  }

  /** The client has left. */
  #leave() {
    this.#isDone = true;
    clearInterval(this.#timer);
    this.#drop(CloseCode.over);
  }

  /** Something is wrong with this program. @param {unknown} error */
  #giveUp(error) {
    this.#leave();
    this.#fail(error);
    this.#client?.error(error);
  }

  /** @param {number} code */
  #drop(code) {
    if (this.#socket !== undefined) close(this.#socket, code);
    this.#socket = undefined;
  }
}

/** The header with a hello, unless that is too long for one. @param {string} hello */
function headerOf(hello) {
  if (hello.length > MAX_HEADER_CHARS) return undefined;
  // A header holds bytes. Whatever is no ASCII stands in strings, which is JSON.
  const escaped = hello.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return escaped.length > MAX_HEADER_CHARS ? undefined : { [HELLO]: escaped };
}

/** Closes a socket; one that is closed already stays so. @param {Socket} socket @param {number} code */
function close(socket, code) {
  try {
    socket.close(code, "");
  } catch {}
}

/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const encoder = new TextEncoder();

/** The header that tells a hello; in the answer it says that it was read. */
const HELLO = "x-hello";

/** The status of an object whose task has as many followers as it may. */
const TOO_MANY = 429;

/** The longest hello that goes into a header. A longer one is the first message over the socket. */
const MAX_HEADER_CHARS = 8 * 1024;

/** How much may wait for a client that reads slowly, in bytes. The log is the buffer beyond that. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/** How long a stream is silent before a comment shows that it is alive. A client that is gone is noticed by this, too. */
const SILENCE_MS = 15_000;
