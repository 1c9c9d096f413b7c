// `a2a-edge forget OWNER`: deletes what a server has of a caller or a group.
//
// Nothing is noted on the way: what is deleted is no longer listed, so the same command goes on wherever it was interrupted.
import { EXIT, Failure } from "../failure.mjs";
import { actOn, pathOf } from "../find.mjs";
import { pageOf } from "../listing.mjs";
import { JSON_OPTION, URL_OPTION, YES_OPTION } from "../operate.mjs";
import { confirmByName } from "../prompt.mjs";
import { eachOf } from "../server.mjs";
import { clean, jsonLine } from "../text.mjs";
import { number, record } from "../values.mjs";
import { counted, rfc3339, timeWord } from "../words.mjs";

/** The number of tasks of a page. */
const PAGE = 100;

const DAY_MS = 86_400_000;

/** What is stored of an owner beside tasks, as the server counts it: the member of its answer, and the words for one and for several. */
const ROWS = {
  usage: ["day of use of models", "days of use of models"],
  usageTurns: ["turn of the last days", "turns of the last days"],
  webhooks: ["webhook in trouble", "webhooks in trouble"],
  counters: ["counter of a tool", "counters of tools"],
};

/** What a deletion leaves, with the number of days after which it is gone at the latest; without it, the command cannot know. */
const REMAINS = [
  { what: "tombstones", days: 1, word: "the tombstones of the tasks: agent, owner, ids and instants" },
  { what: "hours", days: 9, word: "the hours of overviews, which are numbers; with INDEX=objects also the entries of the owner in the directory" },
  { what: "timeTravel", days: 30, word: "Time Travel of D1 (7 days on Workers Free) and recovery of objects, for the owner of the account" },
  { what: "logs", word: "the log of the Worker, as long as the account keeps it: ids, no contents" },
  { what: "elsewhere", word: "what the agents have sent elsewhere" },
];

export default {
  does: "Deletes all tasks of an owner, and what is stored of the owner beside them. It cannot be undone.",
  args: "OWNER",
  takes: [1, 1],
  about: `OWNER is a caller or a group as lists name it, such as key:billing. Tasks that have not ended are canceled first. Then go the use of models,
webhooks in trouble and, once the owner has no task with any agent, the counters of tools. Only agents whose operator you are
are asked. The same command goes on where it was interrupted. Take the owner's keys away first: a task that begins meanwhile stays.`,
  options: {
    ...URL_OPTION,
    agent: { type: "string", value: "AGENT", does: "the agent, as its URL names it; else all" },
    ...YES_OPTION,
    ...JSON_OPTION,
  },
  async run({ print, values, args: [owner], server: chosen, refuse, failed, exit }) {
    if (owner.trim() === "") throw refuse("OWNER is empty.");
    const server = await chosen();
    /** Does `work` with each agent; returns those with which it was done. */
    const withEach = async (agents, work) => {
      const done = [];
      for (const agent of agents) {
        try {
          await work(agent);
          done.push(agent);
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          failed(error);
        }
      }
      return done;
    };
    const countTasks = async (agents) => {
      let sum = 0;
      const done = await withEach(agents, async (agent) => void (sum += (await pageOf(server, agent, { owner, pageSize: 1 })).total));
      return [sum, done];
    };
    const [total, agents] = await countTasks(await server.operatedAgents(values.agent));
    if (agents.length === 0) return exit();
    const notAsked = values.agent === undefined ? (await server.agents()).filter(({ health }) => record(health).state === "misconfigured") : [];
    if (notAsked.length > 0) print.note(`Not asked, because they cannot run: ${notAsked.map(({ slug }) => slug).join(", ")}. Tasks with them stay.`);
    const names = agents.map(({ slug }) => slug).join(", ");
    const what = `${counted(total, "task")} of ${owner} with ${names} at ${server.origin}, and what is stored of ${owner} beside them`;
    await confirmByName(`Delete ${what}? It cannot be undone. Type the owner's name to go on:`, owner, values.yes);

    const gone = { tasks: 0, usage: 0, usageTurns: 0, webhooks: 0, counters: 0, hasTasks: false };
    await withEach(agents, async (agent) => {
      await deleteTasks(server, agent, owner, failed, () => print.progress(`Deleting tasks of ${agent.slug}`, ++gone.tasks, total));
      await deleteRows(server, agent, owner, gone, (rows) => print.progress(`Deleting other rows of ${agent.slug}`, rows));
    });
    const [left, told] = await countTasks(agents);
    print.clear();
    const result = { server, owner, agents, notAsked, gone, left: told.length < agents.length ? undefined : left, isComplete: exit() === 0 && left === 0 };
    await (values.json ? print.line(jsonLine(factOf(result))) : show(print, result));
    return exit() || (left > 0 ? EXIT.refused : 0);
  },
};

/** Deletes the tasks of an owner with an agent, page by page. A task that cannot be deleted is told, and stays. */
async function deleteTasks(server, agent, owner, failed, onDeleted) {
  let token = "";
  do {
    const page = await pageOf(server, agent, { owner, token, pageSize: PAGE });
    const outcomes = await eachOf(page.tasks, async ({ id }) => {
      const task = { agent, id, owner };
      try {
        await server.json({ agent, path: pathOf(task), query: { force: true }, method: "DELETE", headers: actOn(server, task) });
        onDeleted();
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        // Nothing is left of a task that is not found; a server that is gone, or wants to be asked later, answers for no other task either.
        if (error.status === 404) return undefined;
        if (error.status === undefined || error.status === 429) throw error;
        return error;
      }
    });
    const failures = outcomes.filter((outcome) => outcome !== undefined);
    failures.forEach(failed);
    if (failures.length > 0 && failures.length === page.tasks.length) throw failures[0];
    token = page.token;
  } while (token !== "");
}

/** Has the server delete the rows of an owner with an agent, and adds their numbers to `gone`. */
async function deleteRows(server, agent, owner, gone, tell) {
  let [rows, isDone] = [0, false];
  while (!isDone) {
    const answer = record(await server.json({ agent, path: `/${agent.slug}/owner:forget`, query: { owner }, method: "POST", headers: server.asOperator(agent) }));
    let some = 0;
    for (const what of Object.keys(ROWS)) {
      const deleted = number(answer[what]) ?? 0;
      gone[what] += deleted;
      some += deleted;
    }
    gone.hasTasks = answer.hasTasks === true;
    isDone = answer.done === true;
    if (typeof answer.done !== "boolean" || (!isDone && !(some > 0)))
      throw new Failure(`${agent.slug} answered with something that does not say how far it is. Is there a newer server of a2a-edge?`, EXIT.unreachable);
    tell((rows += some));
  }
}

/** What is still there, each with the instant at which it is gone at the latest, in ms since 1970. */
const remains = () => REMAINS.map(({ what, days, word }) => ({ what, word, until: days === undefined ? undefined : Date.now() + days * DAY_MS }));

/** The result for programs. */
function factOf({ server, owner, agents, notAsked, gone: { hasTasks, ...deleted }, left, isComplete }) {
  return {
    owner,
    server: server.origin,
    agents: agents.map(({ slug }) => slug),
    notAsked: notAsked.map(({ slug }) => slug),
    complete: isComplete,
    deleted,
    left: left ?? null,
    countersKept: hasTasks,
    remains: remains().map(({ what, until }) => ({ what, until: rfc3339(until) ?? null })),
  };
}

async function show(print, { server, owner, gone, left, isComplete }) {
  const beside = Object.entries(ROWS).flatMap(([what, [one, many]]) => (gone[what] > 0 ? [counted(gone[what], one, many)] : []));
  const all = [counted(gone.tasks, "task"), ...beside].join(", ");
  await print.line(clean(`Deleted of ${owner} at ${server.origin}: ${all}.`));
  if (left > 0) {
    const are = left === 1 ? "is" : "are";
    await print.line(clean(`${counted(left, "task")} of ${owner} ${are} left: begun meanwhile, or not deleted. Take the owner's keys away.`));
  }
  if (!isComplete) return print.line("Not everything is deleted. Run the same command again.");
  if (gone.hasTasks) await print.line(clean(`The counters of ${owner} stay: there are tasks of ${owner} with other agents.`));
  await print.line("What remains:");
  for (const { word, until } of remains()) await print.line(`  ${until === undefined ? "" : `until ${timeWord(until)} `}${word}`);
}
