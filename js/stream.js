// Connects a stream of server-sent events to the client with a socket to the task's object.
//
// The front Worker holds the client's connection, so that the object can be evicted while there are no events. This is JavaScript and not
// Rust because each event would otherwise cost futures, timers and crossings into WebAssembly. `client-stream.js` decides the meaning of
// frames and of closed sockets; this module has the socket, the client's bytes and the timers.

import { ClientStream, CloseCode, HEARTBEAT, HELLO } from "./client-stream.js";

/** @import { Plan } from "./client-stream.js" */

/**
 * The part of the platform's namespace of objects that is used here.
 *
 * @typedef {object} Namespace
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
 * The functions of the WebAssembly module that are called here, see `src/edge/front/stream.rs`. None of them waits.
 *
 * @typedef {object} Rust
 * @property {(hello: string, failure: string, hasBegun: boolean, limit: number) => string} streamRefusal an `Answer` as JSON
 * @property {(json: string) => string} streamOpening
 * @property {(form: string, json: string, generation: number | undefined, state: string) => string} streamEvent
 * @property {(task: string, reason: string | undefined) => void} streamTrouble logs that the object did not answer, for this reason;
 *   without a reason, that it sent an unreadable frame
 */

/** @typedef {(status: number, headers: Record<string, string>, body: ReadableStream | string | null) => Response} Respond Makes a response, with the headers of all answers. */

/**
 * Opens a stream. The first frame of the object decides if the answer is a stream or a refusal.
 *
 * @param {Namespace} namespace the namespace of the task objects
 * @param {unknown} id the id of the object
 * @param {string} plan a `Plan` as one line of JSON, and in the next line the first message to the object
 * @param {Rust} rust
 * @param {Respond} respond
 * @param {() => void} [ended] is called when the stream is over
 * @returns {Promise<Response>} the response for the client, to be passed on unchanged
 */
export function open(namespace, id, plan, rust, respond, ended) {
  return new Bridge(namespace, id, plan, rust, respond, ended).open();
}

class Bridge {
  #namespace;
  #id;
  /** The id as text, which is that of the task. */
  #task;
  /** @type {Plan} */
  #plan;
  #rust;
  #respond;
  #ended;
  #stream;
  /** True if this is the first request to the object. */
  #begins;
  /** The socket to the object, once it is open. @type {Socket | undefined} */
  #socket;
  /** The client's end, once the stream has begun. @type {ReadableStreamDefaultController | undefined} */
  #client;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  /** The number of bytes that were sent since the client had last read everything. */
  #unread = 0;
  /** True while a socket to the object is being opened. */
  #isConnecting = false;
  /** True if the client has received its last byte, or has disconnected. */
  #isDone = false;
  /** @type {(response: Response) => void} */
  #answer = () => {};
  /** @type {(reason: unknown) => void} */
  #fail = () => {};
  /** The key under which the stream counts in the quota of its caller. @type {string | undefined} */
  #counted;

  /** @param {Namespace} namespace @param {unknown} id @param {string} plan @param {Rust} rust @param {Respond} respond @param {() => void} [ended] */
  constructor(namespace, id, plan, rust, respond, ended) {
    const end = plan.indexOf("\n");
    this.#namespace = namespace;
    this.#id = id;
    this.#task = String(id);
    this.#plan = JSON.parse(plan.slice(0, end));
    this.#rust = rust;
    this.#respond = respond;
    this.#ended = ended;
    this.#begins = this.#plan.begins;
    this.#stream = new ClientStream(this.#plan, this.#task, plan.slice(end + 1), {
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
      if (this.#mayBegin()) this.#connect();
      else this.#finish();
    });
  }

  /** Counts the stream in the quota of its caller, if there is one. False if the caller has reached it, and the stream is refused. */
  #mayBegin() {
    const { quota } = this.#plan;
    if (quota === undefined) return true;
    const [key, most] = quota;
    const count = openStreams.get(key) ?? 0;
    if (count >= most) {
      this.#stream.endWith("over-quota", most);
      return false;
    }
    openStreams.set(key, count + 1);
    this.#counted = key;
    return true;
  }

  /** Notes that the stream is over. */
  #end() {
    if (!this.#isDone) this.#ended?.();
    this.#isDone = true;
    if (this.#counted === undefined) return;
    const count = (openStreams.get(this.#counted) ?? 1) - 1;
    if (count === 0) openStreams.delete(this.#counted);
    else openStreams.set(this.#counted, count);
    this.#counted = undefined;
  }

  /** Connects to the object, with the pauses and as often as the stream allows. */
  async #connect() {
    // The first frame may show that the socket which came with it cannot be used.
    if (this.#isConnecting) return;
    this.#isConnecting = true;
    try {
      if (this.#isBehind()) await this.#untilRead();
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
    } finally {
      this.#isConnecting = false;
    }
  }

  /** Waits until the client has read everything that was sent, because the next frame may be large: a page of the log. */
  async #untilRead() {
    for (let pause = 1; this.#isBehind() && !this.#isDone; pause = Math.min(2 * pause, MAX_LOOK_PAUSE_MS)) await sleep(pause);
  }

  async #tryToConnect() {
    const hello = this.#stream.hello();
    const head = headerOf(hello);
    const url = this.#begins ? "https://task/begin" : "https://task/";
    this.#begins = false;
    let answer;
    try {
      // A new stub for each attempt: after a failure the old stub may stay broken.
      answer = await this.#namespace.get(this.#id).fetch(url, { headers: { upgrade: "websocket", ...head } });
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
    // If the other side is gone, an error is not followed by a close event.
    socket.addEventListener("error", ended);
    socket.accept();
    if (this.#isDone) return close(socket, CloseCode.over);
    this.#socket = socket;
    const first = answer.headers.get(HELLO);
    // An object of an earlier version does not read the header.
    if (first === null) socket.send(hello);
    else if (first !== "") this.#receive(socket, first.replaceAll("\t", "\n"));
  }

  /** @param {string} reason */
  #note(reason) {
    this.#rust.streamTrouble(this.#task, reason);
    this.#stream.noteFailure();
  }

  /** @param {Socket} socket @param {unknown} frame */
  #receive(socket, frame) {
    if (socket !== this.#socket || this.#isDone) return;
    try {
      const text = this.#stream.take(frame);
      if (text === undefined) this.#rust.streamTrouble(this.#task, undefined);
      if (text) this.#write(text);
      if (this.#stream.isOver) this.#finish();
      else if (this.#stream.takeGap()) this.#connectAgain(CloseCode.over);
      else if (this.#unread > MAX_UNREAD_BYTES && this.#isBehind()) this.#connectAgain(CloseCode.tooSlow);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  /** Handles a socket that the object has closed, or that is lost. @param {Socket} socket @param {number} code */
  #lost(socket, code) {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    if (this.#isDone) return clearInterval(this.#timer);
    this.#stream.noteClosed(code);
    if (this.#stream.isOver) this.#finish();
    else this.#connect();
  }

  /** @param {number} code of the close frame */
  #connectAgain(code) {
    this.#drop(code);
    this.#connect();
  }

  /** True if there is something that the client has not read. A stream has room for one piece as long as there is nothing. */
  #isBehind() {
    return this.#client !== undefined && (this.#client.desiredSize ?? 1) < 1;
  }

  /** @param {string} text */
  #write(text) {
    if (this.#client === undefined) this.#begin();
    const bytes = encoder.encode(text);
    this.#unread = bytes.length + (this.#isBehind() ? this.#unread : 0);
    this.#client?.enqueue(bytes);
  }

  #begin() {
    const body = new ReadableStream({
      start: (client) => {
        this.#client = client;
      },
      cancel: () => this.#leave(),
    });
    this.#timer = setInterval(() => this.#tick(), SILENCE_MS);
    this.#answer(this.#respond(200, this.#plan.headers, body));
  }

  #tick() {
    // The object closes the socket soon after its last frame, unless it has died before.
    if (this.#isDone) this.#leave();
    else if (!this.#isBehind()) this.#write(HEARTBEAT);
  }

  /** Ends the client's stream, or answers without one. */
  #finish() {
    if (this.#isDone) return;
    const { refusal, lastWord, isLeftToObject } = this.#stream;
    if (this.#client === undefined) {
      // The client has received every event of an ended task. This answer, unlike an empty stream, makes an `EventSource` stop
      // reconnecting.
      const { status, headers, body } = refusal ?? { status: 204, headers: {}, body: null };
      this.#answer(this.#respond(status, headers, body));
    } else {
      if (lastWord !== "") this.#write(lastWord);
      this.#client.close();
    }
    this.#end();
    if (!isLeftToObject) this.#drop(CloseCode.over);
    if (this.#socket === undefined) clearInterval(this.#timer);
  }

  /** Ends the work for a client that has disconnected. */
  #leave() {
    this.#end();
    clearInterval(this.#timer);
    this.#drop(CloseCode.over);
  }

  /** Ends the stream after an error in this program. @param {unknown} error */
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

/** The header with a hello; undefined if the hello is too long. @param {string} hello */
function headerOf(hello) {
  if (hello.length > MAX_HEADER_CHARS) return undefined;
  // A header contains bytes. In JSON, only strings contain characters other than ASCII, so they can be escaped.
  const escaped = hello.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return escaped.length > MAX_HEADER_CHARS ? undefined : { [HELLO]: escaped };
}

/** Closes a socket; does nothing to a closed socket. @param {Socket} socket @param {number} code */
function close(socket, code) {
  try {
    socket.close(code, "");
  } catch {}
}

/** The numbers of open streams of callers with a quota, in this isolate. @type {Map<string, number>} */
const openStreams = new Map();

/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const encoder = new TextEncoder();

/** The status of an object whose task has reached the limit of followers. */
const TOO_MANY = 429;

/** The longest hello in a header. A longer hello is the first message over the socket. */
const MAX_HEADER_CHARS = 8 * 1024;

/** The largest number of bytes that are sent to a client since it had last read everything. Beyond that, the log is the buffer. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** The longest pause between two looks if a client has read everything. */
const MAX_LOOK_PAUSE_MS = 250;

/** The longest silence of a stream before a comment keeps it alive. The write also reveals a disconnected client. */
const SILENCE_MS = 15_000;
