// Carries out a deliberate fault between a client and a scripted agent, only in development.
// crates/agents/src/script/fault.rs defines the faults, dev/double.js selects one.

/**
 * @typedef {object} Fault
 * @property {number} [status]
 * @property {Record<string, string>} [headers]
 * @property {string} [body]
 * @property {boolean} [lost]
 * @property {number} [wait_ms]
 * @property {number} [event_wait_ms]
 * @property {number} [close_after]
 * @property {boolean} [half_event]
 * @property {boolean} [abort]
 * @property {Record<string, string>} [events]
 * @property {Record<string, unknown>} [card]
 * @property {string[]} [card_without]
 */

/**
 * The answer to a request with this fault.
 *
 * @param {Fault} fault
 * @param {string} origin the origin of the request
 * @param {() => Response | Promise<Response>} answer sends the request to the agent
 * @returns {Promise<Response>}
 */
export async function answerWith(fault, origin, answer) {
  const isReplaced = fault.status !== undefined || fault.body !== undefined;
  const response = isReplaced && !fault.lost ? undefined : await answer();
  await pause(fault.wait_ms);
  if (response === undefined || isReplaced) {
    await response?.body?.cancel();
    return new Response(fault.body ?? null, { status: fault.status ?? 200, headers: new Headers(fault.headers) });
  }
  const lies = fault.card !== undefined || fault.card_without !== undefined;
  const changed = lies && response.ok ? await withLies(response, fault, origin) : withEvents(response, fault);
  for (const [name, value] of Object.entries(fault.headers ?? {})) changed.headers.set(name, value);
  return changed;
}

/**
 * A card with false members. Clients must neither revalidate nor cache it.
 *
 * @param {Response} response @param {Fault} fault @param {string} origin
 */
async function withLies(response, { card = {}, card_without: without = [] }, origin) {
  const told = merged(await response.json(), JSON.parse(JSON.stringify(card).replaceAll("{origin}", origin)));
  for (const name of without) delete told[name];
  const lied = new Response(JSON.stringify(told), response);
  for (const name of ["etag", "last-modified", "content-length"]) lied.headers.delete(name);
  lied.headers.set("cache-control", "no-store");
  return lied;
}

/**
 * Merges objects recursively; any other value replaces the old one.
 *
 * @param {any} target @param {any} patch
 * @returns {any}
 */
function merged(target, patch) {
  if (!isObject(patch) || !isObject(target)) return patch;
  const result = { ...target };
  for (const [name, value] of Object.entries(patch)) result[name] = merged(result[name], value);
  return result;
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {Response} response @param {Fault} fault */
function withEvents(response, fault) {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const body = isStream ? response.body?.pipeThrough(new TransformStream(new Spoiler(fault))) : response.body;
  return new Response(body, response);
}

/** Passes the events of a stream on, with the changes of a fault. */
export class Spoiler {
  #fault;
  #decoder = new TextDecoder();
  #encoder = new TextEncoder();
  #left = "";
  #count = 0;

  /** @param {Fault} fault */
  constructor(fault) {
    this.#fault = fault;
  }

  /** @param {TransformStreamDefaultController} controller */
  async start(controller) {
    if (this.#isOver()) await this.#end(controller);
  }

  /** @param {Uint8Array} bytes @param {TransformStreamDefaultController} controller */
  async transform(bytes, controller) {
    this.#left += this.#decoder.decode(bytes, { stream: true });
    for (let end = this.#left.indexOf("\n\n"); end >= 0; end = this.#left.indexOf("\n\n")) {
      const event = this.#left.slice(0, end + 2);
      this.#left = this.#left.slice(end + 2);
      if (await this.#pass(event, controller)) return;
    }
  }

  /**
   * Returns true if the stream is over.
   *
   * @param {string} event @param {TransformStreamDefaultController} controller
   */
  async #pass(event, controller) {
    // A comment that keeps the connection alive does not count as an event.
    if (!/^data:/m.test(event)) {
      this.#send(event, controller);
      return false;
    }
    await pause(this.#fault.event_wait_ms);
    if (this.#fault.half_event && this.#count === this.#fault.close_after) {
      this.#send(event.slice(0, event.length / 2), controller);
      return this.#end(controller);
    }
    this.#count += 1;
    const data = this.#fault.events?.[this.#count];
    if (data !== "") this.#send(data === undefined ? event : withData(event, data), controller);
    return this.#isOver() ? this.#end(controller) : false;
  }

  /** @param {string} text @param {TransformStreamDefaultController} controller */
  #send(text, controller) {
    controller.enqueue(this.#encoder.encode(text));
  }

  #isOver() {
    return this.#count === this.#fault.close_after && !this.#fault.half_event;
  }

  /**
   * Ends the stream; returns true.
   *
   * @param {TransformStreamDefaultController} controller
   */
  async #end(controller) {
    if (this.#fault.abort) {
      // The pause lets the sent data arrive: an error would overtake it.
      await pause(ABORT_AFTER_MS);
      controller.error(new Error("the script breaks the connection"));
    } else {
      controller.terminate();
    }
    return true;
  }
}

/** @param {string} event @param {string} data */
function withData(event, data) {
  const others = event.split("\n").filter((line) => line !== "" && !line.startsWith("data:"));
  return [...others, ...data.split("\n").map((line) => `data: ${line}`), "", ""].join("\n");
}

const ABORT_AFTER_MS = 50;

/** @param {number | undefined} millis */
async function pause(millis) {
  if (millis) await new Promise((resume) => setTimeout(resume, millis));
}
