// `a2a-edge tail [TASK]`: what happens from now on, until it is interrupted; with a task, until the task has ended.
import { setTimeout as pause } from "node:timers/promises";
import { EXIT, Failure } from "../failure.mjs";
import { findTask, shortId } from "../find.mjs";
import { Listing } from "../listing.mjs";
import { COMMON, JSON_OPTION } from "../operate.mjs";
import { Table } from "../table.mjs";
import { jsonLine } from "../text.mjs";
import { Entries, timelinePage } from "../timeline.mjs";
import { isFinal, numberOf, rfc3339, timeWord } from "../words.mjs";
import { showHead } from "./show.mjs";
import { FILTERS, stateOfTask, taskFact } from "./tasks.mjs";

const EVERY_S = { task: 1, all: 5 };
/** A task may be listed that much later than it has changed. */
const LATE_MS = 60_000;
/** The number of changes that are told at a time. */
const AT_ONCE = 10_000;

export default {
  does: "Follows what happens: the tasks of all agents as they change, or the timeline of one task until the task ends.",
  args: "[TASK]",
  takes: [0, 1],
  about: `Without TASK the lists of tasks are read again and again, so of a task that changes several times in between the last state is
shown. The timeline of a task has everything. While the server cannot be reached it is asked on.`,
  options: {
    ...COMMON,
    owner: FILTERS.owner,
    every: { type: "string", value: "SECONDS", does: `how often the server is asked; ${EVERY_S.all} unless given, for a task ${EVERY_S.task}` },
    ...JSON_OPTION,
  },
  async run(context) {
    const { print, values, args, server: chosen } = context;
    const everyMs =
      1000 * (values.every === undefined ? (args.length === 0 ? EVERY_S.all : EVERY_S.task) : numberOf("every", values.every, { most: 3600 }));
    const server = await chosen();
    if (args.length === 0) return followAll(context, server, everyMs);
    return followTask(context, server, await findTask({ server, print }, args[0], values), everyMs);
  },
};

/** Runs `work` again and again, also after failures that pass, until it returns an exit code. Only the first of failures that follow each other is told. */
async function again(everyMs, failed, work) {
  for (let isFirst = true, isFailing = false; ; isFirst = false) {
    try {
      const exit = await work();
      if (exit !== undefined) return exit;
      isFailing = false;
    } catch (error) {
      if (!(error instanceof Failure) || error.exit !== EXIT.unreachable || isFirst) throw error;
      if (!isFailing) failed(error);
      isFailing = true;
    }
    await pause(everyMs);
  }
}

async function followTask({ print, values }, server, task, everyMs) {
  let token;
  let isShown = false;
  const entries = new Entries(print, values.json);
  return again(
    everyMs,
    (error) => print.note(error.message),
    async () => {
      for (;;) {
        const page = await timelinePage(server, task, token);
        if (!isShown) await showHead(print, values.json, task, page);
        isShown = true;
        await entries.show(page.entries);
        token = page.resume ?? token;
        if (page.next === "" || page.entries.length === 0) return isFinal(page.state) ? 0 : undefined;
      }
    },
  );
}

async function followAll({ print, values }, server, everyMs) {
  const agents = await server.chosenAgents(values.agent);
  const columns = [
    { name: "Changed", isWhole: true },
    { name: "Task", isWhole: true, least: 12 },
    { name: "State", least: 14 },
    { name: "Agent", least: 10 },
    { name: "Owner", least: 10 },
    { name: "Said" },
  ];
  const table = new Table(print, columns);
  const changes = new Changes(server, agents, values.owner);
  await changes.begin();
  for (const failure of changes.failures) print.note(failure.message);
  return again(
    everyMs,
    (error) => print.note(error.message),
    async () => {
      for (const task of await changes.next()) {
        if (values.json) await print.line(jsonLine(taskFact(task)));
        else
          await table.row([timeWord(task.at), print.isTerminal ? shortId(task.id) : task.id, stateOfTask(task), task.agent, task.owner, task.said]);
      }
      await table.flush();
    },
  );
}

/** Tasks that have changed since they were asked for last. The clock is that of the server: the newest task that it lists is where this begins. */
class Changes {
  #list;
  #newest = 0;
  /** The states that were told, with their instants; those that are too old to be listed again are dropped. */
  #told = new Map();
  failures = [];

  constructor(server, agents, owner) {
    this.#list = async (since, atMost) => {
      this.failures = [];
      const listing = new Listing(server, agents, { since, owner }, { atMost, onFailed: (error) => this.failures.push(error) });
      const found = [];
      for await (const task of listing) {
        if (!this.#told.has(nameOf(task))) found.push(task);
        if (found.length >= Math.min(atMost ?? Infinity, AT_ONCE)) break;
      }
      if (this.failures.length > 0 && this.failures.length === agents.length) throw this.failures[0];
      return found;
    };
  }

  async begin() {
    const [newest] = await this.#list(undefined, 1);
    if (newest === undefined) return;
    this.#newest = newest.at;
    this.#remember(await this.#list(this.#since()));
  }

  /** What has changed, oldest first. */
  async next() {
    const changed = (await this.#list(this.#since())).reverse();
    this.#remember(changed);
    return changed;
  }

  #since() {
    return this.#newest === 0 ? undefined : rfc3339(this.#newest - LATE_MS);
  }

  #remember(tasks) {
    for (const task of tasks) {
      this.#newest = Math.max(this.#newest, task.at);
      this.#told.set(nameOf(task), task.at);
    }
    for (const [name, at] of this.#told) if (at < this.#newest - LATE_MS) this.#told.delete(name);
  }
}

const nameOf = ({ agent, owner, id, state, at }) => JSON.stringify([agent, owner, id, state, at]);
