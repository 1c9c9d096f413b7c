// Queues. They deliver to the Worker; what they hold outlives isolates.

/** The settings of a queue of the template's wrangler.toml. @typedef {{ retries: number, dead?: string }} Terms */

/** The queues by the names of their bindings. @type {Record<string, Terms>} */
const QUEUES = { WEBHOOKS: { retries: 5, dead: "DEAD_LETTERS" }, DEAD_LETTERS: { retries: 3 }, DELETIONS: { retries: 3 } };

export const queueNames = Object.keys(QUEUES);

/** @typedef {{ id: string, body: unknown, timestamp: Date, attempts: number }} Message */

/** The queues of a platform. Each message is a batch of its own. */
export class Queues {
  #platform;
  #sent = 0;
  /** The messages whose batch is at work in the isolate. @type {Map<Message, string>} */
  #delivered = new Map();

  /** @param {import("./platform.js").Platform} platform */
  constructor(platform) {
    this.#platform = platform;
  }

  /** The binding of a queue for an isolate. @param {import("./isolate.js").Isolate} isolate @param {string} name */
  binding(isolate, name) {
    return new WorkerQueue((body, delaySeconds) => {
      if (isolate.isAlive) this.#put(name, body, delaySeconds);
    });
  }

  /** Delivers again what an isolate that has ended was given. */
  again() {
    const lost = [...this.#delivered];
    this.#delivered.clear();
    for (const [message, name] of lost) this.#retry(name, message, 0);
  }

  /** @param {string} name @param {unknown} body @param {number} delaySeconds */
  #put(name, body, delaySeconds) {
    this.#sent += 1;
    const message = { id: String(this.#sent), body, timestamp: new Date(this.#platform.clock.now), attempts: 1 };
    this.#schedule(name, message, delaySeconds);
  }

  /** @param {string} name @param {Message} message @param {number} delaySeconds */
  #schedule(name, message, delaySeconds) {
    this.#platform.clock.set(() => this.#deliver(name, message), delaySeconds * 1000);
    this.#platform.quiet.note();
  }

  /** @param {string} name @param {Message} message */
  async #deliver(name, message) {
    const { isolate } = this.#platform;
    /** @type {number | undefined} */
    let delaySeconds;
    let isSettled = false;
    const ack = () => {
      isSettled = true;
    };
    const retry = (/** @type {{ delaySeconds?: number }} */ options = {}) => {
      if (!isSettled) delaySeconds = options.delaySeconds ?? 0;
    };
    const batch = { queue: name, messages: [{ ...message, ack, retry }], ackAll: ack, retryAll: retry };
    this.#delivered.set(message, name);
    try {
      await isolate.alive(isolate.within(() => isolate.handlers.queue(batch, isolate.env, isolate.event)));
    } catch {
      retry();
    }
    this.#delivered.delete(message);
    if (delaySeconds !== undefined) this.#retry(name, message, delaySeconds);
  }

  /** @param {string} name @param {Message} message @param {number} delaySeconds */
  #retry(name, message, delaySeconds) {
    const { retries, dead } = QUEUES[name] ?? { retries: 0 };
    if (message.attempts <= retries) this.#schedule(name, { ...message, attempts: message.attempts + 1 }, delaySeconds);
    else if (dead !== undefined) this.#put(dead, message.body, 0);
  }
}

/** The binding of a queue. The engine asks for the names of the classes of bindings. */
class WorkerQueue {
  #put;

  /** @param {(body: unknown, delaySeconds: number) => void} put */
  constructor(put) {
    this.#put = put;
  }

  /** @param {unknown} body @param {{ delaySeconds?: number }} [options] */
  async send(body, { delaySeconds = 0 } = {}) {
    this.#put(body, delaySeconds);
  }

  /** @param {Iterable<{ body: unknown, delaySeconds?: number }>} messages */
  async sendBatch(messages) {
    for (const { body, delaySeconds = 0 } of messages) this.#put(body, delaySeconds);
  }
}
