// What the engine calls: the tools and executors of a project, by runs.
import { callOf, partsJson } from "./call.js";
import { checkExecutor, checkTool } from "./definitions.js";
import { envOf } from "./env.js";
import { thrownJson } from "./errors.js";
import { Link } from "./link.js";
import { after, readSettings } from "./schemas.js";
import { turnOf } from "./turn.js";

/** @typedef {import("../engine.d.ts").Functions} Functions */

/** The end of a run that has said how it ends. */
const ENDED = "";

/**
 * Makes what the engine calls.
 *
 * @param {{ tools?: Record<string, any>, executors?: Record<string, any> }} given
 * @param {import("../engine.d.ts").Bridge} bridge
 * @param {object} env The environment of the Worker; runs get it without the names of the engine.
 * @returns {Functions}
 * @throws {TypeError} If a tool or an executor cannot be registered; the error names it and says what to do.
 */
export function functionsOf({ tools = {}, executors = {} }, bridge, env) {
  const checkedTools = new Map(Object.entries(tools).map(([name, given]) => [name, checkTool(name, given)]));
  const checkedExecutors = new Map(Object.entries(executors).map(([kind, given]) => [kind, checkExecutor(kind, given)]));
  const described = JSON.stringify({
    tools: [...checkedTools].map(([name, tool]) => ({ name, description: tool.description, inputSchema: tool.schema.json, needs: tool.needs })),
    executors: [...checkedExecutors].map(([kind, { recovery, cancels }]) => ({ kind, recovery, cancels })),
  });
  const ownEnv = envOf(env);
  /** @type {Map<number, Link>} */
  const runs = new Map();

  const open = (/** @type {number} */ number) => {
    const link = new Link(bridge, number);
    runs.set(number, link);
    return link;
  };

  /**
   * @type {(kind: string, number: number, turnJson: string, settingsJson: string) => { link: Link, executor: any, turn: any,
   *   complete: any }}
   */
  const turn = (kind, number, turnJson, settingsJson) => {
    const executor = known(checkedExecutors, kind, "executor");
    const link = open(number);
    return { link, executor, ...turnOf(link, JSON.parse(turnJson), ownEnv, settingsOf(executor, settingsJson)) };
  };

  return {
    describe: () => described,

    checkSettings(kind, settings) {
      const read = readSettings(known(checkedExecutors, kind, "executor").settings, JSON.parse(settings));
      return "problems" in read ? JSON.stringify(read.problems) : undefined;
    },

    execute: (kind, number, turnJson, settingsJson) =>
      endOf(() => {
        const { link, executor, turn: made, complete } = turn(kind, number, turnJson, settingsJson);
        return [link, () => after(after(executor.execute(made), complete), () => ENDED)];
      }),

    cancel: (kind, number, turnJson, settingsJson) =>
      endOf(() => {
        const { link, executor, turn: made } = turn(kind, number, turnJson, settingsJson);
        return [link, () => after(executor.onCancel(made), () => ENDED)];
      }),

    callTool: (name, number, args, callJson) =>
      endOf(() => {
        const { schema, execute, isForeign } = known(checkedTools, name, "tool");
        const link = open(number);
        const call = callOf(link, JSON.parse(callJson), ownEnv);
        const result = () => after(schema.validate(JSON.parse(args)), (valid) => execute(valid, call));
        const parts = () => after(result(), (given) => partsJson(link, given, isForeign));
        return [link, () => after(parts(), (json) => `{"parts":${json}}`)];
      }),

    over(number, why) {
      runs.get(number)?.over(/** @type {any} */ (why));
      if (why !== "canceled") runs.delete(number);
    },
  };
}

/**
 * Begins a run and gives its end. Whatever goes wrong becomes the end, too: nothing is thrown into the engine.
 *
 * @param {() => [Link, () => string | Promise<string>]} begin
 * @returns {string | Promise<string>}
 */
function endOf(begin) {
  try {
    const [link, work] = begin();
    const lost = (/** @type {unknown} */ error) => (link.why === undefined ? thrownJson(error) : ENDED);
    try {
      const end = work();
      if (typeof end === "string") return end;
      const { promise, resolve } = Promise.withResolvers();
      link.onRejection = (reason) => resolve(thrownJson(reason));
      end.then(resolve, (error) => resolve(lost(error)));
      return promise;
    } catch (error) {
      return lost(error);
    }
  } catch (error) {
    return thrownJson(error);
  }
}

/** @template T @param {Map<string, T>} all @param {string} name @param {string} what @returns {T} */
function known(all, name, what) {
  const found = all.get(name);
  if (found === undefined) throw new Error(`there is no ${what} ${JSON.stringify(name)} in worker()`);
  return found;
}

/**
 * The settings of a turn, with the defaults and transforms of their schema.
 *
 * @param {{ settings: any }} executor @param {string} json
 */
function settingsOf({ settings }, json) {
  const read = readSettings(settings, JSON.parse(json));
  if ("value" in read) return read.value;
  throw new Error(`the settings do not fit: ${read.problems.map(({ path, problem }) => `${path} ${problem}`).join("; ")}`);
}
