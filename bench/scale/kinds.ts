// Kinds of tasks, and their billed amounts.

import type { Table } from "../gate/table.ts";
import { OBJECT_GB, OPERATIONS_PER_MESSAGE, WEBSOCKET_MESSAGES_PER_REQUEST, type Billed } from "./prices.ts";

/** A kind of task, by the line of costs.json that measures it. */
export interface Kind {
  title: string;
  /** The name in sentences. */
  short: string;
  measured: string;
  /** The time for which the task's object is active: while a run is under way or a request is open. */
  activeSeconds: number;
  /** The number of client requests to the Worker. */
  requests: number;
}

export const kinds: Kind[] = [
  {
    title: "a quick task, blocking",
    short: "the quick task",
    measured: "SendMessage, a task of 4 events",
    activeSeconds: 0.1,
    requests: 1,
  },
  {
    title: "a streamed task of 20 s, 20 chunks",
    short: "the streamed one",
    measured: "a streamed task of 20 chunks",
    activeSeconds: 20,
    requests: 1,
  },
  {
    title: "a quick task of a front of a remote agent",
    short: "that of a front",
    measured: "SendMessage to a front of a remote agent, a task of 4 events",
    activeSeconds: 0.2,
    requests: 1,
  },
  {
    title: "a task of 10 steps with a webhook",
    short: "the one of ten steps",
    measured: "a task of 10 steps with a webhook",
    activeSeconds: 10,
    requests: 1,
  },
];

/** The CPU time of the Worker for a request, in ms; that of objects is not billed. */
export const CPU_MS = 2;

/** The deletion of an object's storage is assumed to be billed as one row. */
const ROWS_OF_DELETION = 1;

/** The deletion of a row in the table of tasks. What is written once for a message of deletions is in `SHARED_ROWS`. */
export const ROWS_OF_INDEX_DELETION = 1;

/** The tasks of its caller that are not counted yet, which a statement that writes a row reads: up to 32, so half of them in the mean. */
const UNCOUNTED = 16;

/** The number of tasks in a message of the queue of deletions. */
const DELETED_TOGETHER = 100;

/** The rows of D1 that are written once for several tasks, for each task: totals change once for 32 tasks, and with a message of deletions by three rows. */
export const SHARED_ROWS = 1 / 32 + 3 / DELETED_TOGETHER;

/** What each row of a quick task is for: `number` of them are written by its object, or by D1. */
export const ROWS = [
  { number: 2, unit: "objectRows", row: "the table `log` of the object", buys: "an object of its own: crash recovery, streams and waits of a task do not depend on any other" },
  { number: 1, unit: "objectRows", row: "the row of its events", buys: "the task itself: every event, step and message, for GetTask, streams that resume, and recovery" },
  { number: 1, unit: "objectRows", row: "the deletion of the object's storage", buys: "retention" },
  { number: 1, unit: "d1RowsWritten", row: "its row in `tasks`, which is in the order of a listing", buys: "pages of ListTasks for any number of tasks; finding tasks whose time is over" },
  { number: 1, unit: "d1RowsWritten", row: "its entry in `tasks_by_context`", buys: "pages of a conversation; numbers by state; one row of each task although statements may come twice, late or together; `MAX_FINISHED_TASKS`" },
  { number: 1, unit: "d1RowsWritten", row: "its hour in `task_hours`", buys: "an overview that reads no task, whatever their number and that of callers; with `TASK_STATISTICS = \"off\"` this row is not written" },
  { number: 1, unit: "d1RowsWritten", row: "the deletion of its row in `tasks`", buys: "retention; entries of indexes are deleted for nothing" },
  { number: SHARED_ROWS, unit: "d1RowsWritten", row: "its part of rows for several tasks, in `task_counts` and `task_deletions`", buys: "exact totals without counting for each page" },
] satisfies { number: number; unit: Billed; row: string; buys: string }[];

/** The storage of a task, with a message and an artifact of a few words: measured in local files. */
export const STORED_BYTES = { object: 12_288, d1: 740 };

export const RETENTION_DAYS = 30;

/** The billed amounts of one task, including its deletion at the end of its retention. */
export function billed({ measured, activeSeconds, requests }: Kind, table: Table): Record<Billed, number> {
  const { objectRequests, objectRowsWritten, alarms, alarmsSet, webSocketMessages, statements, rowsRead, rowsWritten, queueSends, queueMessages } = costsOf(table, measured);
  const end = deletion(table);
  // An alarm that was set finally fires: to delete the task, or without any work.
  const ringing = alarms + Math.max(Math.min(1, alarmsSet), end.alarms);
  return {
    workerRequests: requests + queueMessages + end.queueMessages,
    workerCpuMs: CPU_MS * (requests + queueMessages + end.queueMessages),
    objectRequests: objectRequests + ringing + webSocketMessages / WEBSOCKET_MESSAGES_PER_REQUEST + end.objectRequests,
    objectGbSeconds: activeSeconds * OBJECT_GB,
    objectRows: objectRowsWritten + end.objectRowsWritten + ROWS_OF_DELETION,
    d1RowsRead: rowsRead + UNCOUNTED * statements + end.rowsRead,
    d1RowsWritten: rowsWritten + ROWS_OF_INDEX_DELETION + SHARED_ROWS,
    queueOperations: OPERATIONS_PER_MESSAGE * (queueSends + end.queueSends),
  };
}

type Costs = Table[string];

/**
 * The cost of deleting a finished task: the difference between a task with deletion and one without. Its part of a message of the queue
 * is less than the file can hold.
 */
export function deletion(table: Table): Costs {
  const [kept, deleted] = [costsOf(table, "SendMessage, a task of 4 events"), costsOf(table, "the same, deleted after its retention")];
  const difference = Object.fromEntries(Object.entries(deleted).map(([name, count]) => [name, count - kept[name as keyof Costs]])) as Costs;
  return { ...difference, queueSends: 1 / DELETED_TOGETHER, queueMessages: 1 / DELETED_TOGETHER };
}

export function costsOf(table: Table, name: string): Costs {
  const costs = table[name];
  if (costs === undefined) throw new Error(`costs.json has no line for "${name}"`);
  return costs;
}
