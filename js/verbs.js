// What a project imports from "a2a-edge/verbs": programs of docs/http-agents.md as executors, in the Worker itself.
import { executor } from "./api/definitions.js";
import { isRunOver } from "./api/errors.js";
import { Saying } from "./api/saying.js";
import { insideOf } from "./api/turn.js";

/** @type {typeof import("./verbs.d.ts").fromVerbs} */
export function fromVerbs(answer, { recovery = "restart" } = {}) {
  return executor({
    recovery,
    async execute(turn) {
      const { link } = insideOf(turn);
      const saying = new Saying(turn);
      let nth = 0;
      for await (const verb of link.read(sourceOf(answer(await documentOf(turn))))) {
        nth += 1;
        try {
          saying.take(verb);
        } catch (error) {
          if (isRunOver(error)) throw error;
          throw new Error(`verb ${nth}: ${/** @type {any} */ (error)?.message ?? error}`, { cause: error });
        }
      }
      return saying.close();
    },
  });
}

/** @param {unknown} verbs @returns {AsyncIterable<unknown> | Iterable<unknown>} */
function sourceOf(verbs) {
  const isObject = typeof verbs === "object" && verbs !== null;
  if (isObject && (Symbol.asyncIterator in verbs || Symbol.iterator in verbs)) return /** @type {any} */ (verbs);
  throw new TypeError("a program gives verbs one by one: write async function* answer(turn) { yield { do: … }; }, or return a list");
}

/**
 * The turn as docs/http-agents.md has it.
 *
 * @param {import("./index.d.ts").Turn<any>} turn @returns {Promise<import("./verbs.d.ts").HttpTurn>}
 */
async function documentOf(turn) {
  const { agent, taskId, contextId, number, attempt, message, metadata, caller } = turn;
  const [task, credentials] = [turn.task(), await turn.credentials()];
  return {
    version: "1",
    agent,
    taskId,
    contextId,
    turn: number,
    attempt,
    resumes: attempt > 1,
    timeLeftMs: turn.timeLeft(),
    message,
    history: turn.history(),
    caller: { id: caller.id, permissions: caller.permissions },
    acceptedOutputModes: insideOf(turn).acceptedOutputModes,
    ...(metadata === undefined ? {} : { metadata }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(task === undefined ? {} : { task }),
  };
}
