// Steps: work whose outcome is stored, so that a run that begins again does not repeat it.
import { millis } from "./durations.js";
import { isFailure, recalled, storedReason } from "./errors.js";
import { jsonText } from "./json.js";

/** @typedef {import("./link.js").Link} Link */
/** @typedef {import("../index.d.ts").StepOptions} StepOptions */
/** @typedef {(attempt: import("../index.d.ts").StepAttempt) => unknown} Work */

const RETRY_DELAY_MS = 1_000;
const MAX_RETRY_DELAY_MS = 30_000;

/**
 * Does work once, as the step of a name.
 *
 * @param {Link} link @param {string} key The idempotency key of the run. @param {string} name @param {Work} work
 * @param {StepOptions} [options]
 * @returns {Promise<any>} What the step has given, as read from the JSON that is stored.
 */
export async function step(link, key, name, work, options = {}) {
  if (typeof name !== "string" || typeof work !== "function") {
    throw new TypeError('a step needs a name and a function: await turn.step("mail", () => send(…))');
  }
  const terms = termsOf(options);
  return durable(link, name, link.call("beginStep", name), async (nth) => {
    const value = await attempts(link, `${key}/${encodeURIComponent(name)}/${nth}`, name, work, terms);
    return jsonText(value, `the result of step ${JSON.stringify(name)}`);
  });
}

/**
 * Gives the stored outcome of a step, or does its work and stores what comes of it.
 *
 * @param {Link} link @param {string} name
 * @param {string} begun What the engine has said to the beginning.
 * @param {(nth: number) => Promise<string>} work Gives the outcome as JSON.
 * @returns {Promise<any>}
 */
export async function durable(link, name, begun, work) {
  const start = JSON.parse(begun);
  if ("failed" in start) throw recalled(start.failed);
  if ("done" in start) return start.done;
  const open = `${name}\n${start.new}`;
  link.openSteps.add(open);
  try {
    const outcome = await work(start.new).catch((error) => {
      // An interrupted step is done again.
      if (link.why === undefined) link.call("endStep", name, start.new, false, storedReason(error));
      throw error;
    });
    // The engine stores a result that it refuses as a failure.
    link.call("endStep", name, start.new, true, outcome);
    return JSON.parse(outcome);
  } finally {
    link.openSteps.delete(open);
  }
}

/** @typedef {{ attempts: number, delayMs: number, maxDelayMs: number, timeoutMs: number | undefined }} Terms */

/** @param {StepOptions} options @returns {Terms} */
function termsOf({ retry = 1, timeout }) {
  const given = typeof retry === "number" ? { attempts: retry } : retry;
  const { attempts, delay = RETRY_DELAY_MS, maxDelay = MAX_RETRY_DELAY_MS } = given;
  if (!Number.isInteger(attempts) || attempts < 1) {
    throw new TypeError(`the attempts of a step must be a whole number from 1 on, got ${attempts}`);
  }
  const timeoutMs = timeout === undefined ? undefined : millis(timeout);
  return { attempts, delayMs: millis(delay), maxDelayMs: millis(maxDelay), timeoutMs };
}

/** @param {Link} link @param {string} idempotencyKey @param {string} name @param {Work} work @param {Terms} terms */
async function attempts(link, idempotencyKey, name, work, { timeoutMs, ...terms }) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (timeoutMs !== undefined) {
        return await inTime(link, name, timeoutMs, (signal) => work({ attempt, idempotencyKey, signal }));
      }
      return await work({
        attempt,
        idempotencyKey,
        get signal() {
          return link.signal;
        },
      });
    } catch (error) {
      const isHopeless = isFailure(error) && error.fault === "arguments";
      if (link.why !== undefined || isHopeless || attempt >= terms.attempts) throw error;
      const askedMs = isFailure(error) && error.retryAfter !== undefined ? millis(error.retryAfter) : 0;
      await link.pause(Math.max(askedMs, Math.min(terms.delayMs * 2 ** (attempt - 1), terms.maxDelayMs)));
    }
  }
}

/**
 * One attempt, which fails after the time.
 *
 * @param {Link} link @param {string} name @param {number} timeoutMs @param {(signal: AbortSignal) => unknown} work
 */
async function inTime(link, name, timeoutMs, work) {
  const limit = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`step ${JSON.stringify(name)} was not done within ${timeoutMs} ms`);
      limit.abort(error);
      reject(error);
    }, timeoutMs);
  });
  try {
    return await Promise.race([work(AbortSignal.any([link.signal, limit.signal])), late]);
  } finally {
    clearTimeout(timer);
  }
}
