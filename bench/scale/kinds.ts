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

/** The storage of a task, with a message and an artifact of a few words: measured in local files. */
export const STORED_BYTES = { object: 12_288, d1: 850 };

export const RETENTION_DAYS = 30;

/** The billed amounts of one task, including its deletion at the end of its retention. */
export function billed({ measured, activeSeconds, requests }: Kind, table: Table): Record<Billed, number> {
  const { objectRequests, objectRowsWritten, alarms, alarmsSet, webSocketMessages, rowsRead, rowsWritten, queueSends, queueMessages } = costsOf(table, measured);
  const end = deletion(table);
  // An alarm that was set finally fires: to delete the task, or without any work.
  const ringing = alarms + Math.max(Math.min(1, alarmsSet), end.alarms);
  return {
    workerRequests: requests + queueMessages + end.queueMessages,
    workerCpuMs: CPU_MS * (requests + queueMessages + end.queueMessages),
    objectRequests: objectRequests + ringing + webSocketMessages / WEBSOCKET_MESSAGES_PER_REQUEST + end.objectRequests,
    objectGbSeconds: activeSeconds * OBJECT_GB,
    objectRows: objectRowsWritten + end.objectRowsWritten + ROWS_OF_DELETION,
    d1RowsRead: rowsRead + end.rowsRead,
    d1RowsWritten: rowsWritten + end.rowsWritten,
    queueOperations: OPERATIONS_PER_MESSAGE * (queueSends + end.queueSends),
  };
}

type Costs = Table[string];

/** The cost of deleting a finished task: the difference between a task with deletion and one without. */
export function deletion(table: Table): Costs {
  const [kept, deleted] = [costsOf(table, "SendMessage, a task of 4 events"), costsOf(table, "the same, deleted after its retention")];
  return Object.fromEntries(Object.entries(deleted).map(([name, count]) => [name, count - kept[name as keyof Costs]])) as Costs;
}

export function costsOf(table: Table, name: string): Costs {
  const costs = table[name];
  if (costs === undefined) throw new Error(`costs.json has no line for "${name}"`);
  return costs;
}
