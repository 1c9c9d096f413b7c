// A scenario with a crash at each place where one can be.
import { AssertionError } from "node:assert";
import { isDeepStrictEqual } from "node:util";
import { beginning, insideOf } from "./agent.js";

/** @typedef {import("./index.d.ts").TestTask} TestTask */
/** @typedef {import("./platform.js").Place} Place */

/**
 * What a scenario has led to.
 *
 * @typedef {object} Outcome
 * @property {Place[]} places The places that it has come to.
 * @property {unknown} results What is compared of the tasks.
 * @property {Map<string, number>} steps How often each step was done to its end, so that its outcome was stored.
 * @property {Map<string, number>} sent How often each request was sent that is in no step, and that changes something.
 * @property {boolean} hasCrashed
 */

/** How many places are tried unless the test says otherwise. */
const LIMIT = 200;

/** Methods of requests that may be repeated. */
const SAFE = ["GET", "HEAD", "OPTIONS"];

/**
 * Carries out a scenario without a crash, and then once for each place where a crash can be, with a crash there.
 *
 * @template {object} A
 * @param {() => Promise<A>} make @param {(agent: A) => unknown} scenario
 * @param {import("./index.d.ts").CrashOptions} [options]
 */
export async function survivesCrashes(make, scenario, { limit = LIMIT, mayRepeat = () => false } = {}) {
  const begin = { seed: 1, now: Date.now() };
  const carryOut = (/** @type {number} */ crashAt) => outcomeOf(make, scenario, begin, crashAt, mayRepeat);
  const calm = await carryOut(-1);
  if (calm.places.length === 0) throw new Error("survivesCrashes: the scenario does nothing with the agent that make() gave");
  const chosen = spread(calm.places.length, limit);
  let crashes = 0;
  for (const at of chosen) {
    const where = `survivesCrashes: with a crash ${described(calm.places[at])} (place ${at + 1} of ${calm.places.length})`;
    const crashed = await carryOut(at).catch((error) => {
      throw failed(where, error);
    });
    if (crashed.hasCrashed) crashes += 1;
    await compare(calm, crashed, where, () => carryOut(-1));
  }
  return { places: calm.places.length, crashes };
}

/** The error for one that the scenario has thrown. @param {string} where @param {unknown} error */
function failed(where, error) {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const failure = new Error(`${where} the scenario fails: ${message}`, { cause: error });
  failure.stack = `${failure.message}\n${stack}`;
  return failure;
}

/**
 * @template {object} A
 * @param {() => Promise<A>} make @param {(agent: A) => unknown} scenario @param {{ seed: number, now: number }} begin
 * @param {number} crashAt The place of the crash, from 0; -1 for none.
 * @param {(request: { method: string, url: string }) => boolean} mayRepeat
 * @returns {Promise<Outcome>}
 */
async function outcomeOf(make, scenario, begin, crashAt, mayRepeat) {
  const agent = await beginning(begin, make);
  const { platform, results } = insideOf(agent);
  /** @type {Place[]} */
  const places = [];
  platform.watch = (place) => places.push(place) === crashAt + 1;
  await scenario(agent);
  const tasks = await results();
  const done = platform.steps.filter(({ isStored }) => isStored).map(({ key, name, nth }) => `${JSON.stringify(name)} (${nth}) of ${key}`);
  const sent = platform.sent.filter((one) => one.step === undefined && !SAFE.includes(one.method) && !mayRepeat(one));
  return {
    places,
    results: tasks.map(compared),
    steps: counted(done),
    sent: counted(sent.map(({ key, method, url }) => `${method} ${withoutTokens(url)} of ${key}`)),
    hasCrashed: platform.crashes > 0,
  };
}

/** Numbers from 0, all of them or evenly spread ones, with the last one. @param {number} count @param {number} limit @returns {number[]} */
function spread(count, limit) {
  if (count <= limit) return Array.from({ length: count }, (_, at) => at);
  return Array.from({ length: limit }, (_, at) => Math.round((at * (count - 1)) / Math.max(1, limit - 1)));
}

/** What must be the same of a task. Ids, and the tokens of callbacks, are made by chance. @param {TestTask} task */
function compared({ id, contextId, state, text, parts, artifacts }) {
  const names = [[id, "<task>"], [contextId, "<context>"]].filter(([name]) => name !== "");
  const whole = Object.fromEntries(Object.entries(artifacts).map(([id, { text, parts }]) => [id, { text, parts: joined(parts) }]));
  let json = JSON.stringify({ state, text, parts, artifacts: whole });
  for (const [name, shown] of names) json = json.replaceAll(/** @type {string} */ (name), /** @type {string} */ (shown));
  return JSON.parse(withoutTokens(json));
}

/** Parts with texts that follow each other in one, since a text may be streamed in other pieces. @param {readonly any[]} parts */
function joined(parts) {
  /** @type {any[]} */
  const whole = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (isText(last) && isText(part)) last.text += part.text;
    else whole.push({ ...part });
  }
  return whole;
}

/** True for a part that is nothing but a text. @param {any} part */
const isText = (part) => part !== undefined && Object.keys(part).join() === "text";

/** @param {string} text */
const withoutTokens = (text) => text.replace(/(\/callbacks\/)[\w-]+/g, "$1<token>");

/** @param {string[]} names @returns {Map<string, number>} */
function counted(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** @param {Outcome} calm @param {Outcome} crashed @param {string} where @param {() => Promise<Outcome>} again */
async function compare(calm, crashed, where, again) {
  const repeated = [...crashed.steps].find(([, count]) => count > 1);
  if (repeated !== undefined) throw new Error(`${where} the step ${repeated[0]} is done again although its outcome was stored.`);
  for (const [request, count] of crashed.sent) {
    const expected = calm.sent.get(request) ?? 0;
    if (count <= expected) continue;
    throw new Error(`${where} ${request} is sent ${times(count)} instead of ${times(expected)}. ${OUTSIDE}`);
  }
  if (!isDeepStrictEqual(crashed.results, calm.results)) throw await difference(calm, crashed, where, again);
  const strange = [...crashed.steps.keys()].filter((name) => !calm.steps.has(name));
  if (strange.length > 0) {
    throw new Error(`${where} steps are done that are not done without it: ${strange.join(", ")}. ${STRANGE}`);
  }
}

const OUTSIDE =
  "It is in no step, and what is outside of steps is done again. Put it into a step: await turn.step(\"name\", () => turn.fetch(…)); or let it be " +
  "repeated by the option mayRepeat.";

const STRANGE = "What decides about steps and their names must be the same in each attempt, or come from a step.";

/** @param {Outcome} calm @param {Outcome} crashed @param {string} where @param {() => Promise<Outcome>} again */
async function difference(calm, crashed, where, again) {
  const expected = calm.results;
  const { results } = await again();
  const isSteady = isDeepStrictEqual(results, expected);
  const actual = isSteady ? crashed.results : results;
  const what = isSteady ? `${where} the result differs.` : UNSTEADY;
  const shown = (/** @type {unknown} */ value) => JSON.stringify(value, null, 2);
  const message = `${what}\n\nexpected: ${shown(expected)}\n\nactual: ${shown(actual)}`;
  return new AssertionError({ message, actual, expected, operator: "deepStrictEqual" });
}

const UNSTEADY =
  "survivesCrashes: the result differs from run to run, also without a crash. What comes from time or chance cannot be compared; leave it out of results.";

/** @param {number} count */
const times = (count) => (count === 1 ? "once" : `${count} times`);

/** @param {Place | undefined} place */
function described(place) {
  switch (place?.kind) {
    case "begin":
      return `before the work of the step ${JSON.stringify(place.name)}`;
    case "end":
      return `behind the work of the step ${JSON.stringify(place.name)}, before its outcome is stored`;
    case "request":
      return `before ${withoutTokens(place.name)} is sent`;
    case "answer":
      return `behind ${withoutTokens(place.name)}, before the agent has the answer`;
    default:
      return "before a write to the storage of the task";
  }
}
