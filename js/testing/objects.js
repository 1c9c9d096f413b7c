// Durable Objects: their namespace, and what each of them gets from the platform.
import { createHash } from "node:crypto";
import { Storage, Stored } from "./storage.js";

/** The id of an object. */
class ObjectId {
  #hex;

  /** @param {string} hex @param {string} [name] */
  constructor(hex, name) {
    this.#hex = hex;
    this.name = name;
  }

  toString() {
    return this.#hex;
  }

  /** @param {unknown} other */
  equals(other) {
    return String(other) === this.#hex;
  }
}

/** The binding of the objects in an isolate. Their storage belongs to the platform. The engine asks for the names of the classes of bindings. */
export class DurableObjectNamespace {
  #isolate;

  /** @param {import("./isolate.js").Isolate} isolate */
  constructor(isolate) {
    this.#isolate = isolate;
  }

  newUniqueId() {
    return this.#given(this.#isolate.platform.chance.hex(32));
  }

  /** @param {string} name */
  idFromName(name) {
    return this.#given(createHash("sha256").update(name).digest("hex"), name);
  }

  /** @param {string} hex @param {string} [name] */
  #given(hex, name) {
    this.#isolate.platform.objectIds.add(hex);
    return new ObjectId(hex, name);
  }

  /** @param {string} hex */
  idFromString(hex) {
    if (!this.#isolate.platform.objectIds.has(hex)) throw new TypeError("the namespace did not create this id");
    return new ObjectId(hex);
  }

  /** @param {unknown} id */
  get(id) {
    const isolate = this.#isolate;
    const call = async (/** @type {string} */ method, /** @type {unknown[]} */ args) => {
      if (!isolate.isAlive) return new Promise(() => {});
      isolate.platform.quiet.note();
      return isolate.alive(isolate.object(String(id))[method](...args));
    };
    return {
      id,
      ask: (/** @type {unknown[]} */ ...args) => call("ask", args),
      askBytes: (/** @type {unknown[]} */ ...args) => call("askBytes", args),
      fetch: () => Promise.reject(new Error("a2a-edge/testing has no WebSockets, which streams need; test them with the Worker in workerd")),
    };
  }
}

/** `ctx` of an object in an isolate. @param {import("./isolate.js").Isolate} isolate @param {string} hex */
export function objectContext(isolate, hex) {
  const { objects } = isolate.platform;
  const stored = objects.get(hex) ?? new Stored();
  objects.set(hex, stored);
  return {
    id: new ObjectId(hex),
    storage: new Storage(isolate, hex, stored),
    waitUntil: isolate.event.waitUntil,
    abort: () => isolate.forget(hex),
    blockConcurrencyWhile: (/** @type {() => unknown} */ work) => work(),
    // Nobody follows a task: see `fetch` above.
    getWebSockets: () => [],
  };
}
