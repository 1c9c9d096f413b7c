// The client of an agent: requests of A2A 1.0 over JSON-RPC, and tasks as tests read them.
import { credentialsOf } from "./project.js";
import { partsOf } from "./remotes.js";

/** @typedef {import("./index.d.ts").TestTask} TestTask */

const ORIGIN = "https://agent.test";

/** An error of the protocol. */
export class CallError extends Error {
  /** @param {{ code: number, message: string }} error @param {string} log */
  constructor({ code, message }, log) {
    super(`${message} (${code})${log}`);
    this.name = "CallError";
    this.code = code;
  }
}

export class Client {
  #platform;
  #caller;
  #calls = 0;

  /** @param {import("./platform.js").Platform} platform @param {import("./project.js").GivenCaller} [caller] */
  constructor(platform, caller) {
    this.#platform = platform;
    this.#caller = caller;
  }

  /** The id of the next message. */
  nextMessageId() {
    return this.#platform.chance.uuid();
  }

  /**
   * Calls a method. If the Worker crashes before its answer, the same request is sent again.
   *
   * @param {string} method @param {object} params @param {string} [key] The `Idempotency-Key`.
   * @returns {Promise<any>}
   * @throws {CallError} If the Worker refuses it.
   */
  async call(method, params, key) {
    this.#calls += 1;
    const body = JSON.stringify({ jsonrpc: "2.0", id: this.#calls, method, params });
    const { status, text } = await this.#platform.request(() => new Request(`${ORIGIN}/`, {
      method: "POST",
      headers: {
        "content-type": "application/json", "content-length": String(Buffer.byteLength(body)), "a2a-version": "1.0",
        ...(key !== undefined && { "idempotency-key": key }), ...credentialsOf(this.#caller, this.#platform.clock.now),
      },
      body,
    }));
    const { result, error } = parsed(text) ?? { error: { code: status, message: `the Worker answered ${status}: ${text}` } };
    if (error !== undefined) throw new CallError(error, status >= 500 || error.code === -32603 ? this.#logged() : "");
    return result;
  }

  /** The end of the log, for errors whose reason only the log has. */
  #logged() {
    const lines = this.#platform.log.slice(-5);
    return lines.length === 0 ? "" : `; the log of the Worker ends with:\n${lines.map((line) => `    ${line}`).join("\n")}`;
  }

  /**
   * Posts a body to a callback.
   *
   * @param {string} url @param {unknown} body
   * @returns {Promise<boolean>} False if the callback is unknown, used or expired.
   */
  async post(url, body) {
    const isText = typeof body === "string";
    const key = this.#platform.chance.uuid();
    const { status, text } = await this.#platform.request(() => new Request(url, {
      method: "POST",
      headers: { "content-type": isText ? "text/plain" : "application/json", "idempotency-key": key },
      body: isText ? body : JSON.stringify(body),
    }));
    if (status >= 200 && status < 300) return true;
    if (status === 404) return false;
    throw new Error(`the callback ${url} answered ${status}: ${text}`);
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The parts of a message of a test. @param {import("../index.d.ts").Content} content */
export const messageParts = (content) => partsOf(content);

/** A task of the wire as tests read it. @param {any} task @returns {TestTask} */
export function shown(task) {
  const { id, contextId, status, artifacts = [], history = [], metadata } = task;
  return {
    id,
    contextId,
    state: stateOf(status.state),
    text: textOf(status.message?.parts),
    parts: status.message?.parts ?? [],
    artifacts: Object.fromEntries(artifacts.map(shownArtifact)),
    history,
    ...(metadata !== undefined && { metadata }),
  };
}

/** @param {any} artifact */
const shownArtifact = ({ artifactId, parts, name }) => [artifactId, { text: textOf(parts), parts, ...(name !== undefined && { name }) }];

/** A message in place of a task. @param {any} message @returns {TestTask} */
export const shownReply = (message) => ({
  id: "", contextId: message.contextId ?? "", state: "replied", text: textOf(message.parts), parts: message.parts, artifacts: {}, history: [],
});

/** @param {string} state @returns {any} */
const stateOf = (state) => state.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-");

/** The texts of parts, joined; data as JSON. @param {any[]} [parts] */
const textOf = (parts = []) => parts.map((part) => part.text ?? ("data" in part ? JSON.stringify(part.data) : "")).join("");

/** True if the state is the last one of a task. @param {string} state */
export const isEnded = (state) => ["completed", "failed", "canceled", "rejected", "replied"].includes(state);

/** True if the task waits for its client. @param {string} state */
export const isAsking = (state) => state === "input-required" || state === "auth-required";
