// What lists show of a task, from the metadata that ListTasks adds with `includeSummary` (docs/calling.md).
import { json } from "./http.ts";
import type { ListTasksResponse, Message, Task } from "./types.ts";
import { shortened } from "../parts/words.ts";
import { actAs } from "../session/operator.ts";

/** The largest number of characters that the server searches for. */
export const MAX_TEXT = 100;

/** A page of ListTasks. A search tells how many tasks it has looked at, and whether there are older ones. */
export interface TaskPage extends ListTasksResponse {
  searchedSize?: number;
  isBounded?: boolean;
}

export interface TaskQuery {
  pageSize: number;
  pageToken?: string;
  state?: string;
  context?: string;
  since?: string;
  text?: string;
  isWaiting?: boolean;
  owner?: string;
  signal?: AbortSignal;
  isQuiet?: boolean;
}

/** A page of the tasks of an agent, with their summaries. @throws {Problem} */
export function taskPage(agent: string, { pageSize, pageToken, state, context, since, text, isWaiting, owner, signal, isQuiet = true }: TaskQuery): Promise<TaskPage> {
  const query = {
    pageSize,
    pageToken,
    status: state,
    contextId: context,
    statusTimestampAfter: since,
    text,
    waiting: isWaiting === true ? "true" : undefined,
    includeSummary: "true",
    historyLength: 1,
  };
  return json<TaskPage>({ agent, path: `/${agent}/tasks`, query, headers: { "act-as": actAs(owner) }, signal, isQuiet });
}

/** What was asked of a task, as its name; its id if that is not known. */
export function nameOf(task: Task): string {
  const asked = task.metadata?.["urn:a2a-edge:asked"];
  const text = typeof asked === "string" ? asked : task.history?.at(-1)?.role === "ROLE_USER" ? textOf(task.history.at(-1)) : "";
  return text.trim() === "" ? shortened(task.id) : text.trim();
}

/** The duration of a finished task in milliseconds. */
export function durationOf({ metadata }: Pick<Task, "metadata">): number | undefined {
  const told = metadata?.["urn:a2a-edge:duration-ms"];
  return typeof told === "number" && told >= 0 ? told : undefined;
}

/** The cost of the models that a task has used, in millionths; undefined if there is none. */
export function costOf({ metadata }: Pick<Task, "metadata">): number | undefined {
  const usage = metadata?.["urn:a2a-edge:usage"];
  const told = typeof usage === "object" && usage !== null ? (usage as { cost?: unknown }).cost : undefined;
  return typeof told === "number" && told > 0 ? Math.round(told * 1e6) : undefined;
}

/** The owner of a task, for operators. */
export function ownerOf({ metadata }: Pick<Task, "metadata">): string | undefined {
  const owner = metadata?.["urn:a2a-edge:owner"];
  return typeof owner === "string" ? owner : undefined;
}

/** The beginning of a message's text, on one line. */
export function textOf(message: Message | undefined): string {
  const text = message?.parts.map((part) => part.text ?? "").join(" ") ?? "";
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
