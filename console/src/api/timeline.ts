// The timeline of a task in the form of the server (docs/timeline.md).
import { json } from "./http.ts";
import type { Task, TaskState } from "./types.ts";
import { actAs } from "../session/operator.ts";

/** The excerpt of a part: its kind and size, and the beginning of its text. */
export interface PartExcerpt {
  type: "text" | "data" | "raw" | "url";
  bytes: number;
  text?: string;
  isCut?: boolean;
  mediaType?: string;
  filename?: string;
}

export interface MessageExcerpt {
  messageId: string;
  role: "ROLE_USER" | "ROLE_AGENT";
  parts: PartExcerpt[];
  moreParts?: number;
}

export interface Usage {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  costMicros: number;
}

interface Common {
  /** In ms since 1970. */
  at: number;
  generation: number | null;
}

export type RunEntry = Common & { kind: "run"; attempt: number; resumes: boolean; message: number; begunAt: number; timeoutMs: number; caller?: string; askedBy?: TaskOf };
export type ArtifactEntry = Common & { kind: "artifact"; artifactId: string; name?: string; append: boolean; lastChunk: boolean; parts: PartExcerpt[]; moreParts?: number };
export type StepEntry = Common & {
  kind: "step";
  name: string;
  nth: number;
  type: "model" | "tool" | "agent" | "step";
  tool?: string;
  agent?: string;
  of?: string;
  calls?: string[];
  failed: boolean;
  durationMs?: number;
  usage?: Usage;
  bytes: number;
  outcome?: string;
  error?: string;
  isCut?: boolean;
  /** What the step was given, as JSON, if the agent's file says that it is kept. */
  input?: string;
  inputIsCut?: boolean;
  /** The task that another agent of this Worker was given. */
  task?: TaskOf;
};
export type AttemptEntry = Common & {
  kind: "webhookAttempt";
  webhook: string;
  origin: string;
  attempt: number;
  durationMs: number;
  outcome: string;
  status?: number;
  error?: string;
};

export type Entry =
  | (Common & { kind: "task"; state: TaskState; message?: MessageExcerpt })
  | (Common & { kind: "status"; state: TaskState; message?: MessageExcerpt })
  | (Common & { kind: "message"; message: MessageExcerpt })
  | ArtifactEntry
  | RunEntry
  | StepEntry
  | AttemptEntry
  | (Common & { kind: "usage"; usage: Usage })
  | (Common & { kind: "taken" | "ended" })
  | (Common & { kind: "held"; chars: number })
  | (Common & { kind: "parked"; nth: number; until: number; orMessage: boolean; callback?: { name: string; nth: number }; unanswered?: { times: number; since: number } })
  | (Common & { kind: "woken"; nth: number; by: "time" | "message" | "callback" })
  | (Common & { kind: "callback"; name: string; nth: number; uses: number; expiresAt: number })
  | (Common & { kind: "called"; name: string; nth: number; number: number; body?: PartExcerpt });

/** A step that is under way. */
export interface OpenStep {
  name: string;
  nth: number;
  type: StepEntry["type"];
  agent?: string;
  of?: string;
  since: number;
}

/** The facts about the current task in an answer. */
export interface Head {
  taskId: string;
  contextId: string;
  state: TaskState;
  statusAt: number | null;
  createdAt: number | null;
  agent: string;
  owner?: string;
  generation: number;
  usage?: Usage;
  /** The number of steps that have failed while the task continued. */
  failedSteps?: number;
  underWay: OpenStep[];
  /** What the agent's file says is kept of steps. Servers before 0.7 do not say. */
  trace?: "off" | "names" | "full";
  /** True if there is no more room for what steps were given. */
  traceIsFull?: boolean;
}

export interface TimelinePage extends Head {
  entries: Entry[];
  nextPageToken: string;
  resumeToken?: string;
}

/** A task of an agent of this Worker. */
export interface TaskOf {
  agent: string;
  id: string;
  /** The owner of the task, if an operator reads a task whose id its client has chosen. */
  owner?: string | undefined;
}

/**
 * The header with which an operator acts on a task. It names an owner only if the id alone does not identify the task.
 */
export function actOn({ id, owner }: TaskOf): Record<string, string | undefined> {
  return { "act-as": actAs(/^[0-9a-f]{64}$/.test(id) ? undefined : owner) };
}

/** The path of a task, optionally with a path below the task. */
export function pathOf({ agent, id }: TaskOf, rest = ""): string {
  return `/${agent}/tasks/${encodeURIComponent(id)}${rest}`;
}

/** The task with its artifacts, and the newest messages of its history; with all of them by default. @throws {Problem} */
export function wholeTask(task: TaskOf, { historyLength, signal }: { historyLength?: number | undefined; signal?: AbortSignal | undefined } = {}): Promise<Task> {
  return json<Task>({ agent: task.agent, path: pathOf(task), query: { historyLength }, headers: actOn(task), signal, isQuiet: true });
}

/** A page of the timeline. @throws {Problem} */
export function timelinePage(task: TaskOf, query: Record<string, string | number | undefined>, options: { signal: AbortSignal; isQuiet?: boolean }): Promise<TimelinePage> {
  return json<TimelinePage>({ agent: task.agent, path: pathOf(task, "/timeline"), query, headers: actOn(task), ...options });
}
