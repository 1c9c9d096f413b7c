// What an executor gets: one message of a task, and all it may do about it.
import { jsonText } from "./json.js";
import { contentJson, resultJson } from "./parts.js";
import { runOf } from "./run.js";
import { callback, wait } from "./waits.js";
import { isStream, write } from "./write.js";

/** @typedef {import("./link.js").Link} Link */
/** @typedef {import("../index.d.ts").Turn<any>} Turn */
/** @typedef {import("../index.d.ts").Message} Message */
/** @typedef {import("../index.d.ts").ArtifactOptions} ArtifactOptions */

/**
 * What the engine says of a turn.
 *
 * @typedef {import("./run.js").Facts & { agent: string, contextId: string, number: number, attempt: number, resumes: boolean,
 *   deadline: number, message: Message, metadata?: Record<string, any>, acceptedOutputModes: string[] }} TurnFacts
 */

/** How a run was ended by a method of its turn. Executors return it. */
class Ended {}

const INSIDE = Symbol.for("a2a-edge.inside");

/**
 * What the adapters (js/sdk.js, js/verbs.js) need of a turn.
 *
 * @param {any} turn
 * @returns {{ link: Link, end(by: string, verb: string): any, acceptedOutputModes: readonly string[] }}
 */
export const insideOf = (turn) => turn[INSIDE];

/**
 * @param {Link} link @param {TurnFacts} facts @param {any} env @param {any} settings
 * @returns {{ turn: Turn, complete(result: unknown): void | Promise<void> }} The turn, and what ends it by the result of its
 *   function.
 */
export function turnOf(link, facts, env, settings) {
  const { agent, contextId, number, attempt, resumes, deadline, message, metadata, acceptedOutputModes } = facts;
  const say = (/** @type {string} */ verb) => link.call("say", verb);
  const end = (/** @type {string} */ by, /** @type {string} */ verb) => {
    if (link.end === undefined) link.refuseOpenSteps();
    say(verb);
    const ended = Object.freeze(new Ended());
    link.end = { by, ended };
    return /** @type {any} */ (ended);
  };
  const working = (/** @type {string | undefined} */ text) =>
    say(text === undefined ? '{"do":"working"}' : `{"do":"working","text":${jsonText(text, "the progress")}}`);
  const ids = new ArtifactIds();
  const turn = {
    ...runOf(link, facts, env, working),
    get signal() {
      return link.signal;
    },
    agent,
    settings,
    contextId,
    message,
    metadata,
    number,
    attempt,
    resumes,
    text: message.parts.map((part) => ("text" in part ? part.text : "")).join(""),
    data: message.parts.flatMap((part) => ("data" in part ? [part.data] : []))[0],
    timeLeft: () => Math.max(0, deadline - Date.now()),
    accepts: (/** @type {string} */ mediaType) => link.call("accepts", mediaType),
    task: () => parsed(link.call("task")),
    credentials: () => link.run(async () => parsed(await link.ask("credentials"))),
    nextMessage: () => link.run(async () => JSON.parse(await link.ask("nextMessage"))),

    artifact: (/** @type {unknown} */ content, /** @type {ArtifactOptions} */ options = {}) =>
      say(artifactJson(ids.of(options.id), about(options), contentJson(content, "an artifact"))),
    write: (/** @type {any} */ source, /** @type {ArtifactOptions} */ options = {}) => {
      const id = ids.of(options.id);
      return link.run(() => write(link, source, id, about(options)));
    },

    ask: (/** @type {unknown} */ question) => end("turn.ask(…)", endJson("input_required", question, "the question")),
    askAuth: (/** @type {string} */ text) => end("turn.askAuth(…)", endJson("auth_required", text, "what is asked for")),
    reject: (/** @type {string} */ reason) => end("turn.reject(…)", endJson("reject", reason, "the reason")),
    reply: (/** @type {unknown} */ content) => end("turn.reply(…)", endJson("reply", content, "the reply")),

    wait: (/** @type {unknown} */ time) => link.run(() => wait(link, time)),
    callback: (/** @type {string} */ name, /** @type {any} */ terms) => callback(link, name, terms),
  };
  Object.defineProperty(turn, INSIDE, { value: { link, end, acceptedOutputModes } });

  const complete = (/** @type {unknown} */ result) => {
    if (link.end !== undefined) return refuseSecond(link.end, result);
    if (result instanceof Ended) {
      throw new Error("what was returned has ended another run; return what a method of this turn gives");
    }
    link.refuseOpenSteps();
    const done = () => say('{"do":"complete"}');
    if (isStream(result)) return turn.write(result).then(done);
    if (result !== undefined) say(artifactJson(ids.of(undefined), "", resultJson(result, "the result")));
    return done();
  };
  return { turn: /** @type {any} */ (turn), complete };
}

/**
 * A method has ended the run, so only what it gave may be returned.
 *
 * @param {{ by: string, ended: object }} end @param {unknown} result
 */
function refuseSecond({ by, ended }, result) {
  if (result === undefined || result === ended) return;
  throw new Error(`${by} has ended the run, and the function has returned another result; write: return ${by}`);
}

/** The ids of artifacts without one: `result`, `result-2`, the same in each attempt. */
class ArtifactIds {
  /** @type {Set<string>} */
  #used = new Set();
  #unnamed = 0;

  /** @param {string | undefined} given */
  of(given) {
    const id = given ?? this.#next();
    this.#used.add(id);
    return id;
  }

  /** @returns {string} */
  #next() {
    this.#unnamed += 1;
    const id = this.#unnamed === 1 ? "result" : `result-${this.#unnamed}`;
    return this.#used.has(id) ? this.#next() : id;
  }
}

/** @param {string} verb @param {unknown} content @param {string} what */
const endJson = (verb, content, what) => `{"do":"${verb}","parts":${contentJson(content, what)}}`;

/** @param {string} id @param {string} about @param {string} parts */
const artifactJson = (id, about, parts) =>
  `{"do":"artifact","id":${jsonText(id, "the id of an artifact")}${about},"parts":${parts}}`;

/** The further members of an artifact as JSON, with a comma before each. @param {ArtifactOptions} options */
function about({ name, description, metadata }) {
  const members = Object.entries({ name, description, metadata }).filter(([, value]) => value !== undefined);
  return members.map(([key, value]) => `,"${key}":${jsonText(value, `the ${key} of an artifact`)}`).join("");
}

/** @param {string} json */
const parsed = (json) => (json === "" ? undefined : JSON.parse(json));
