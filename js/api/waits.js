// Waits outside of memory, and callbacks.
import { millis } from "./durations.js";

/** @typedef {import("./link.js").Link} Link */

/**
 * Waits for a time or a message.
 *
 * @param {Link} link @param {unknown} wait A duration, an instant, or an object with `for` or `until`, and `orMessage`.
 * @returns {Promise<string>}
 */
export async function wait(link, wait) {
  return begin(link, termsOf(wait));
}

/**
 * Makes a callback, or gives the one that an earlier attempt has made.
 *
 * @param {Link} link @param {string} name @param {{ uses?: number, within?: unknown }} [terms]
 */
export function callback(link, name, { uses = 1, within } = {}) {
  const { nth, url } = JSON.parse(link.call("callback", name, uses, within === undefined ? 0 : millis(within)));
  const answered = async (/** @type {unknown} */ wait) => {
    const by = await begin(link, { ...termsOf(wait), callback: { name, nth } });
    return by === "callback" ? { by: "call", body: JSON.parse(link.call("takeCall", name, nth)) } : { by };
  };
  return { url, wait: (/** @type {unknown} */ wait) => link.run(() => answered(wait)) };
}

/** @param {Link} link @param {object} terms @returns {Promise<string>} */
async function begin(link, terms) {
  link.refuseOpenSteps("the run waits, since a wait drops the run");
  const by = link.call("wait", JSON.stringify(terms));
  // The run begins again when the wait ends: nothing here goes on.
  return by === "parks" ? new Promise(() => {}) : by;
}

/** @param {unknown} wait */
function termsOf(wait) {
  if (wait instanceof Date) return { untilMs: instant(wait) };
  if (typeof wait !== "object" || wait === null) return { forMs: millis(wait) };
  const { for: time, until, orMessage } = /** @type {{ for?: unknown, until?: unknown, orMessage?: unknown }} */ (wait);
  if ((time === undefined) === (until === undefined)) {
    throw new TypeError('a wait needs one of `for` and `until`: { for: "3 days", orMessage: true }');
  }
  const end = time === undefined ? { untilMs: instant(until) } : { forMs: millis(time) };
  return orMessage === true ? { ...end, orMessage: true } : end;
}

/** @param {unknown} date */
function instant(date) {
  const ms = date instanceof Date ? date.getTime() : Number.NaN;
  if (Number.isNaN(ms)) throw new TypeError(`${String(date)} is no instant: give a valid Date`);
  return ms;
}
