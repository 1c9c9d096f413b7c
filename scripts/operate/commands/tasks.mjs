// `a2a-edge tasks`: the tasks of all agents, newest first.
import { shortId } from "../find.mjs";
import { EXIT, Failure } from "../failure.mjs";
import { Listing } from "../listing.mjs";
import { COMMON, JSON_OPTION } from "../operate.mjs";
import { Table } from "../table.mjs";
import { jsonLine } from "../text.mjs";
import { STATE_NAMES, counted, numberOf, rfc3339, sinceOf, stateCell, stateOf, timeWord } from "../words.mjs";

const LIMIT = 50;

/** The options by which the server chooses tasks. */
export const FILTERS = {
  since: { type: "string", value: "TIME", does: "only tasks that have changed since: 30m, 2h, 7d, or a date" },
  owner: { type: "string", value: "OWNER", does: "for operators: only tasks of this owner, such as key:billing" },
};

const filtersOf = ({ state, context, since, owner, text }) => ({ state: state && stateOf(state), context, since: since && sinceOf(since), owner, text: text && textOf(text) });

/** The largest number of characters that the server searches for. */
const MAX_TEXT = 100;

function textOf(given) {
  if ([...given].length <= MAX_TEXT) return given;
  throw new Failure(`--text has at most ${MAX_TEXT} characters.`, EXIT.usage);
}

/** A task for programs. */
export function taskFact({ agent, id, context, state, at, owner, failedSteps, usage, said }) {
  return { agent, id, context, state, at: rfc3339(at), owner, failedSteps, usage, said };
}

/** The state of a task, with the number of its failed steps. */
export function stateOfTask({ state, failedSteps }) {
  const { text, tone } = stateCell(state);
  return { text: failedSteps > 0 ? `${text}, ${counted(failedSteps, "failed step")}` : text, tone };
}

export default {
  does: "Lists the tasks of all callers, newest first.",
  about: `Terminals show the beginnings of ids, which the other commands take; pipes and --json get whole ids. --failed-steps is chosen
here from what the server lists, so it reads more pages than it shows. --text searches what was asked and said, in any case, in the
newest 10,000 tasks of each agent, and with --all in all of them.`,
  options: {
    ...COMMON,
    state: { type: "string", value: "STATE", does: `only tasks in this state: ${STATE_NAMES.join(", ")}` },
    ...FILTERS,
    context: { type: "string", value: "ID", does: "only tasks of this context" },
    text: { type: "string", value: "WORDS", does: "only tasks one of whose messages, or whose id, contains these words" },
    "failed-steps": { type: "boolean", does: "only tasks some of whose steps have failed" },
    limit: { type: "string", value: "N", does: `at most so many tasks; ${LIMIT} unless given` },
    all: { type: "boolean", does: "all tasks" },
    ...JSON_OPTION,
  },
  async run({ print, values, server: chosen, failed, exit }) {
    const limit = values.all ? Infinity : values.limit === undefined ? LIMIT : numberOf("limit", values.limit);
    const filters = filtersOf(values);
    const server = await chosen();
    const agents = await server.chosenAgents(values.agent);
    const isOnlyFailed = values["failed-steps"] === true;
    const listing = new Listing(server, agents, filters, { atMost: isOnlyFailed ? undefined : limit, isWhole: values.all === true, onFailed: failed });
    const hasOwners = agents.some((agent) => "act-as" in server.asOperator(agent));
    const table = new Table(print, [
      { name: "Task", isWhole: true },
      { name: "State", isWhole: true },
      ...(agents.length > 1 ? [{ name: "Agent" }] : []),
      ...(hasOwners ? [{ name: "Owner" }] : []),
      { name: "Changed", isWhole: true },
      { name: "Said" },
    ]);
    let [read, shown] = [0, 0];
    for await (const task of listing) {
      read += 1;
      print.progress("Reading tasks", read, listing.total);
      if (isOnlyFailed && task.failedSteps === 0) continue;
      if (values.json) await print.line(jsonLine(taskFact(task)));
      else {
        const { id, agent, owner, at, said } = task;
        await table.row([
          print.isTerminal ? shortId(id) : id,
          stateOfTask(task),
          ...(agents.length > 1 ? [agent] : []),
          ...(hasOwners ? [owner] : []),
          timeWord(at || undefined),
          said,
        ]);
      }
      shown += 1;
      if (shown >= limit) break;
    }
    await table.flush();
    print.clear();
    // After a failure it is not known whether there are none.
    if (!values.json && (shown > 0 || exit() === 0)) {
      const isFiltered = isOnlyFailed || Object.values(filters).some((filter) => filter !== undefined);
      tell({ print, origin: server.origin, shown, read, total: listing.total, isFiltered, isOnlyFailed, isSearch: filters.text !== undefined });
    }
    // Also programs have to know that something was left out.
    for (const { agent, size } of listing.bounded) print.note(`Only the newest ${counted(size, "task")} of ${agent} were searched; --all searches the older ones, too.`);
    return exit();
  },
};

/** What stands below a table, for people. */
function tell({ print, origin, shown, read, total, isFiltered, isOnlyFailed, isSearch }) {
  if (shown === 0) return print.note(`${isFiltered ? "No task matches the filters" : "There are no tasks"} at ${origin}.`);
  if (!print.isTerminal) return undefined;
  if (isSearch) return print.note(`${counted(shown, "task")} at ${origin}${read < total ? "; --limit N or --all shows more" : ""}`);
  const of = isOnlyFailed ? ` of the newest ${read}` : "";
  return print.note(`${shown}${of} of ${counted(total, "task")} at ${origin}${read < total ? "; --limit N or --all shows more" : ""}`);
}
