// Other agents, by their names in remotes.toml or their slugs in this Worker.
import { millis } from "./durations.js";
import { jsonText } from "./json.js";
import { contentJson } from "./parts.js";
import { durable } from "./steps.js";

/** @typedef {import("./link.js").Link} Link */
/** @typedef {{ taskId?: string, timeout?: import("../index.d.ts").Duration }} Options */

/**
 * The functions to call other agents in a run.
 *
 * @param {Link} link @param {string} key The idempotency key of the run.
 */
export function remotesOf(link, key) {
  /**
   * How many streams of an agent the run has opened, so that each attempt names its messages alike.
   *
   * @type {Map<string, number>}
   */
  const streams = new Map();
  return (/** @type {string} */ name) => ({
    send: (/** @type {unknown} */ message, /** @type {Options} */ options) =>
      link.run(() => send(link, key, name, message, options)),
    stream(/** @type {unknown} */ message, /** @type {Options} */ options) {
      const nth = (streams.get(name) ?? 0) + 1;
      streams.set(name, nth);
      return stream(link, name, requestJson(`${key}/stream ${name}/${nth}`, message, options));
    },
    cancel: (/** @type {string} */ taskId) => link.run(async () => void (await link.ask("remoteCancel", name, taskId))),
    card: () => link.run(async () => JSON.parse(await link.ask("remoteCard", name))),
  });
}

/**
 * Sends a message and gives what came of it: a step.
 *
 * @param {Link} link @param {string} key @param {string} name @param {unknown} message @param {Options} [options]
 */
async function send(link, key, name, message, options) {
  const step = `ask ${name}`;
  const request = (/** @type {number} */ nth) => requestJson(`${key}/${step}/${nth}`, message, options);
  // A message that is wrong fails before a step begins.
  request(0);
  return durable(link, step, link.call("beginStep", step), (nth) => link.ask("remoteSend", name, request(nth)));
}

/**
 * The events of a task elsewhere.
 *
 * @param {Link} link @param {string} name @param {string} request @returns {AsyncGenerator<any>}
 */
async function* stream(link, name, request) {
  const number = link.call("remoteStream", name, request);
  try {
    for (;;) {
      const event = await link.run(() => link.ask("remoteNext", number));
      if (event === "") return;
      yield JSON.parse(event);
    }
  } finally {
    if (link.why === undefined) link.call("remoteClose", number);
  }
}

/** @param {string} key @param {unknown} message @param {Options} [options] */
function requestJson(key, message, { taskId, timeout } = {}) {
  const parts = contentJson(message, "a message to another agent");
  const task = taskId === undefined ? "" : `,"taskId":${jsonText(taskId, "the id of a task")}`;
  const limit = timeout === undefined ? "" : `,"timeoutMs":${millis(timeout)}`;
  return `{"parts":${parts},"key":${JSON.stringify(key)}${task}${limit}}`;
}
