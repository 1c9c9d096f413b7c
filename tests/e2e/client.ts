// A small JSON-RPC client for A2A 1.0. It builds requests and unwraps answers; the assertions are in the tests.

import { randomUUID } from "node:crypto";

export interface Part {
  text?: string;
  raw?: string;
  url?: string;
  data?: unknown;
  filename?: string;
  mediaType?: string;
  metadata?: Record<string, unknown>;
}

export interface Message {
  messageId: string;
  contextId?: string;
  taskId?: string;
  role: string;
  parts: Part[];
  metadata?: Record<string, unknown>;
}

export interface Artifact {
  artifactId: string;
  name?: string;
  parts: Part[];
  metadata?: Record<string, unknown>;
}

export interface Task {
  id: string;
  contextId: string;
  status: { state: string; message?: Message; timestamp: string };
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: Record<string, unknown>;
}

export interface ErrorDetail {
  "@type": string;
  reason?: string;
  domain?: string;
  metadata?: Record<string, string>;
  fieldViolations?: { field: string; description: string }[];
}

/** The body of a JSON-RPC answer. */
export interface Reply {
  jsonrpc: string;
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: ErrorDetail[] };
}

/** The configuration of a send. */
export interface Configuration {
  acceptedOutputModes?: string[];
  historyLength?: number;
  returnImmediately?: boolean;
}

/** A text, or any members of a message; missing members are filled in. */
export type Said = string | Partial<Message>;

/** A request that an agent received. */
export interface ReceivedRequest {
  agent: string;
  method: string;
  path: string;
  operation: string | null;
  messageId: string | null;
  taskId: string | null;
  text: string | null;
  message: Message | null;
  headers: Record<string, string>;
  fault: object | null;
}

/** The data of an error in 0.1. */
interface EarlyData {
  text: string;
  details: ErrorDetail[];
}

/** A JSON-RPC error as an exception, for `assert.rejects`. */
export class RpcError extends Error {
  readonly code: number;
  readonly reason: string | undefined;
  /** The refused fields. */
  readonly fields: string[];
  /** The task in the details of the error. */
  readonly taskId: string | undefined;

  constructor(error: NonNullable<Reply["error"]>) {
    // In 0.1 the details are in the data.
    const data: Partial<EarlyData> = Array.isArray(error.data) ? { details: error.data } : ((error.data ?? {}) as Partial<EarlyData>);
    const { text = error.message, details = [] } = data;
    super(text);
    const info = details.find((detail) => detail.reason !== undefined);
    this.code = error.code;
    this.reason = info?.reason;
    this.taskId = info?.metadata?.["taskId"];
    this.fields = details.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field);
  }
}

/** An agent at its JSON-RPC endpoint. */
export class Agent {
  readonly endpoint: string;
  readonly #headers: Record<string, string>;

  /** `headers` are sent with every request. */
  constructor(endpoint: string, headers: Record<string, string> = {}) {
    this.endpoint = endpoint;
    this.#headers = headers;
  }

  /** Calls a method and returns its result. Throws an `RpcError` if the answer is an error. */
  async call<Result>(method: string, params: unknown, signal?: AbortSignal): Promise<Result> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: randomUUID(), method, params });
    const headers = { "content-type": "application/json", "a2a-version": "1.0", ...this.#headers };
    const response = await fetch(this.endpoint, { method: "POST", headers, body, signal: signal ?? null });
    const text = await response.text();
    const isJson = /^application\/json\b/.test(response.headers.get("content-type") ?? "");
    if (!isJson) throw new Error(`${method} was answered with ${response.status} ${text}`);
    const { error, result } = JSON.parse(text) as Reply;
    if (error !== undefined) throw new RpcError(error);
    return result as Result;
  }

  /** Sends a message; the answer contains a task or a message. */
  send(said: Said, configuration?: Configuration, signal?: AbortSignal): Promise<{ task?: Task; message?: Message }> {
    return this.call("SendMessage", { message: message(said), configuration }, signal);
  }

  /** Sends a message whose answer is a task. */
  async sendForTask(said: Said, configuration?: Configuration): Promise<Task> {
    const { task } = await this.send(said, configuration);
    if (task === undefined) throw new Error("the answer holds no task");
    return task;
  }

  getTask(id: string, historyLength?: number): Promise<Task> {
    return this.call("GetTask", { id, historyLength });
  }

  cancelTask(id: string): Promise<Task> {
    return this.call("CancelTask", { id });
  }

  /** Lists tasks. */
  listTasks(params: Record<string, unknown> = {}): Promise<TaskList> {
    return this.call("ListTasks", params);
  }
}

/** A message of the user, with a fresh id. */
export function message(said: Said): Message {
  const given = typeof said === "string" ? { parts: [{ text: said }] } : said;
  return { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text: "hello" }], ...given };
}

/** A message that continues a task. */
export function followUp(task: Task, text: string): Message {
  return message({ taskId: task.id, parts: [{ text }] });
}

/** A page of tasks, the result of ListTasks. */
export interface TaskList {
  tasks: Task[];
  nextPageToken: string;
  pageSize: number;
  totalSize: number;
}

/** A message that calls a tool. */
export function toolCall(tool: string, args?: unknown): Message {
  return message({ parts: [{ data: { tool, arguments: args } }] });
}

/** All text in a message or an artifact. */
export function textOf(holder: { parts: Part[] } | undefined): string {
  return (holder?.parts ?? []).map((part) => part.text ?? "").join("");
}

/** The requests that the agents of a Worker with `hasDev` have received so far, oldest first. */
export async function received(workerUrl: string): Promise<ReceivedRequest[]> {
  const response = await fetch(`${workerUrl}/_dev/received`);
  return ((await response.json()) as { requests: ReceivedRequest[] }).requests;
}

/** Reads repeatedly until the value fits, and returns it. Gives up before the test is ended, with the last value in the error. */
export async function until<Value>(read: () => Promise<Value>, fits: (value: Value) => boolean): Promise<Value> {
  const deadline = Date.now() + 40_000;
  for (;;) {
    const value = await read();
    if (fits(value)) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain; the last value is ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A Worker with its log. */
interface Logging {
  readonly logs: readonly { level: string; message: string }[];
}

/**
 * Waits for a line in a Worker's log, of this level if given, and returns it. Lines are transferred separately from answers, and may arrive
 * later.
 */
export async function logged({ logs }: Logging, text: string | RegExp, of?: string): Promise<string> {
  const matches = (message: string): boolean => (typeof text === "string" ? message.includes(text) : text.test(message));
  const find = () => logs.find(({ level, message }) => (of === undefined || level === of) && matches(message));
  const { found } = await until(async () => ({ found: find(), logs }), ({ found }) => found !== undefined);
  return found?.message ?? "";
}

/**
 * Waits until everything that a Worker has logged so far is read: until the line about a new task of this agent arrives, which follows all
 * others.
 */
export async function logIsRead(worker: Logging & { readonly url: string }, agent: string): Promise<void> {
  const request = randomUUID();
  await new Agent(`${worker.url}${agent}`, { "cf-ray": request }).sendForTask("hello");
  await logged(worker, request);
}

/** Waits until a task has ended, and returns the task. */
export function untilEnded(agent: Agent, id: string): Promise<Task> {
  return until(() => agent.getTask(id), (task) => isTerminal(task.status.state));
}

export function isTerminal(state: string): boolean {
  return ["COMPLETED", "FAILED", "CANCELED", "REJECTED"].some((name) => state === `TASK_STATE_${name}`);
}
