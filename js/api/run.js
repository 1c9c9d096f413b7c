// What tools and executors have in common. The methods do not need `this`, so that they may be taken out of the object.
import { millis } from "./durations.js";
import { isOwnName } from "./env.js";
import { request } from "./fetch.js";
import { mcpOf } from "./mcp.js";
import { remotesOf } from "./remotes.js";
import { step } from "./steps.js";

/** @typedef {import("./link.js").Link} Link */
/** @typedef {import("../index.d.ts").Run} Run */
/** @typedef {{ id: string, owner: string, permissions: string[], session?: string }} CallerFacts */
/**
 * @typedef {{ taskId: string, idempotencyKey: string, caller: CallerFacts, toolCallId?: string }} Facts What the engine says of a
 *   run.
 */

/** The longest sleep in memory. */
const MAX_SLEEP_MS = 30_000;

/** The largest number of characters of a model's name (src/usage/models.rs). */
const MAX_MODEL_LETTERS = 100;

/**
 * @param {Link} link @param {Facts} facts @param {any} env @param {Run["working"]} working
 * @returns {Omit<Run, "signal">} All but the signal, which is made when it is needed.
 */
export function runOf(link, { taskId, idempotencyKey, caller, toolCallId }, env, working) {
  return {
    env,
    taskId,
    idempotencyKey,
    working,
    caller: { ...caller, may: (permission) => caller.permissions.includes(permission) },
    history: () => JSON.parse(link.call("history")),
    step: (/** @type {string} */ name, /** @type {any} */ work, /** @type {import("./steps.js").StepOptions} */ options) =>
      link.run(() => step(link, idempotencyKey, name, work, options)),
    fetch: (input, init) => link.run(() => request(link, input, init)),
    secret: (name) => secret(link, name),
    sleep: (time) => link.run(() => sleep(link, time)),
    remote: remotesOf(link, idempotencyKey),
    mcp: mcpOf(link, toolCallId),
    recordUsage: (used) => link.call("recordUsage", usageJson(used)),
  };
}

/** @param {Link} link @param {string} name */
function secret(link, name) {
  if (isOwnName(name)) throw new Error(`${name} belongs to a2a-edge; keep a secret of the project under another name`);
  return link.call("secret", name);
}

/** @param {Link} link @param {unknown} time */
async function sleep(link, time) {
  const ms = millis(time);
  if (ms > MAX_SLEEP_MS) {
    throw new RangeError(`sleep() waits in memory, for at most 30 seconds; an executor waits for longer by turn.wait()`);
  }
  link.refuseWhenOver();
  await link.pause(ms);
}

/** @param {import("../index.d.ts").Usage} used */
function usageJson({ model = "", requests = 1, inputTokens = 0, outputTokens = 0, costMicros = 0 }) {
  const usage = { requests, inputTokens, outputTokens, costMicros };
  for (const [name, count] of Object.entries(usage)) {
    if (!(count >= 0 && Number.isFinite(count))) {
      throw new TypeError(`recordUsage(): ${name} must be a number from 0 on, got ${String(count)}`);
    }
  }
  if (typeof model !== "string" || model.length > MAX_MODEL_LETTERS) {
    throw new TypeError(`recordUsage(): model must be a text of up to ${MAX_MODEL_LETTERS} characters`);
  }
  return JSON.stringify({ model, ...usage }, (_key, value) => (typeof value === "number" ? Math.round(value) : value));
}
