// The same request over both bindings: requests that are generated from a seed, and what their answers are without the ids and times that
// differ anyway.

import { rest, rpc, type Answer } from "./answers.ts";
import { message, type Message, type Task } from "./client.ts";

/** A request of A2A, and where it goes over HTTP+JSON. */
export interface Request {
  method: string;
  params: Record<string, unknown>;
  verb: "GET" | "POST" | "DELETE";
  path: string;
}

/** A task in a state, and the id of its webhook. */
export interface About {
  task: Task;
  hook: string;
}

/** How a task is made that a request is about: what is said to `demo`, and what comes of it. */
export const STATES = { completed: "hello", asking: "ask", working: "hold 600000" } as const;
export type State = keyof typeof STATES;

/** A request that was generated: in which state the task is that it is about, and the request about such a task. */
export interface Generated {
  state: State | undefined;
  of: (about: About) => Request;
}

/** Numbers from 0 to below 1, the same ones for the same seed (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A request, as the next numbers choose it. Each binding has a task of its own for it, since it may change the task. */
export function generate(next: () => number): Generated {
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(next() * values.length)] as Value;
  const kind = pick(["send", "send", "send", "answer", "get", "get", "list", "cancel", "create", "webhook"] as const);
  const state = pick(["completed", "asking", "working"] as const);
  // An id that is right, of no task, or none at all.
  const target = pick<(task: Task) => unknown>([({ id }) => id, ({ id }) => id, ({ id }) => id, () => "0".repeat(64), () => "nobody", () => ""]);
  const historyLength = pick([undefined, undefined, 0, 1, 2, 100, -1, "many"]);
  const configuration = { historyLength, returnImmediately: pick([undefined, false, true]), acceptedOutputModes: pick([undefined, ["text/plain"], []]) };
  const parts = pick<unknown>([[], PARTS, ...PARTS.map((part) => [part]), [{}], [{ text: 1 }], "text"]);
  const text = pick(["hello", "ask", "fail", "reject", "auth", "message", "chunks"]);
  const role = pick(["ROLE_USER", "ROLE_USER", "ROLE_USER", "ROLE_AGENT", "user", undefined]);
  const damage = pick<(said: Message) => Record<string, unknown>>([...Array<(said: Message) => Message>(5).fill((said) => said), ({ messageId: _, ...others }) => others,
    (said) => ({ ...said, parts }), (said) => ({ ...said, role }), (said) => ({ ...said, contextId: "another" }), (said) => ({ ...said, metadata: { a: [1, null] } })]);
  const page = { pageSize: pick([undefined, 1, 50, 0, 101]), status: pick([undefined, "TASK_STATE_COMPLETED", "NO_STATE"]), historyLength };
  const hook = { url: pick(["https://hooks.example.com/x", "http://hooks.example.com", "nowhere"]), id: pick([undefined, "own", "no id"]) };

  const path = (task: Task): string => `/tasks/${String(target(task))}`;
  switch (kind) {
    case "send":
      return { state: undefined, of: () => send({ message: damage(message(text)), configuration }) };
    case "answer":
      // A task that works takes the message at its end, for which nobody waits here.
      return { state, of: ({ task }) =>
        send({ message: damage(message({ parts: [{ text }], taskId: target(task) as string })), configuration: { ...configuration, ...(state === "working" && { returnImmediately: true }) } }) };
    case "get":
      return { state, of: ({ task }) => ({ method: "GetTask", params: { id: target(task), historyLength }, verb: "GET", path: path(task) }) };
    case "list":
      return { state, of: ({ task: { contextId } }) => ({ method: "ListTasks", params: { contextId, ...page }, verb: "GET", path: "/tasks" }) };
    case "cancel":
      return { state, of: ({ task }) => post("CancelTask", { id: target(task) }, `${path(task)}:cancel`) };
    case "create":
      return { state, of: ({ task }) => post("CreateTaskPushNotificationConfig", { taskId: target(task), ...hook }, `${path(task)}/pushNotificationConfigs`) };
    case "webhook":
      return { state, of: webhook(pick(["Get", "List", "Delete"] as const), pick([true, true, false])) };
  }
}

const PARTS = [{ text: "hello" }, { data: { a: 1 } }, { raw: "aGk=", filename: "f", mediaType: "text/plain" }, { url: "https://example.com/f" }];

const post = (method: string, params: Record<string, unknown>, path: string): Request => ({ method, params, verb: "POST", path });
const send = (params: Record<string, unknown>): Request => post("SendMessage", params, "/message:send");

/** A request about the webhook of a task, or about one that the task has not. */
function webhook(what: "Get" | "List" | "Delete", isThere: boolean): Generated["of"] {
  return ({ task: { id: taskId }, hook }) => {
    const id = isThere ? hook : "absent";
    const all = { verb: "GET" as const, path: `/tasks/${taskId}/pushNotificationConfigs` };
    if (what === "List") return { method: "ListTaskPushNotificationConfigs", params: { taskId }, ...all };
    return { method: `${what}TaskPushNotificationConfig`, params: { taskId, id }, verb: what === "Get" ? "GET" : "DELETE", path: `${all.path}/${id}` };
  };
}

/** Makes a request over JSON-RPC. */
export const overRpc = (base: string, { method, params }: Request, headers?: Record<string, string>): Promise<Answer> => rpc(base, method, params, headers);

/** Makes it over HTTP+JSON: what stands in the path is in no query and no body. */
export function overRest(base: string, { verb, path, params }: Request, headers?: Record<string, string>): Promise<Answer> {
  const others = Object.entries(params).filter(([name, value]) => value !== undefined && !(IN_PATH.includes(name) && path.includes(`/${String(value)}`)));
  if (verb === "POST") return rest(base + path, verb, Object.fromEntries(others), headers);
  const query = new URLSearchParams(others.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return rest(`${base}${path}${query === "" ? "" : `?${query}`}`, verb, undefined, headers);
}

const IN_PATH = ["id", "taskId"];

/**
 * An answer without what each binding has in its own way: the status, and `null` or `{}` where there is nothing to say. Each id and time is a
 * number, in the order in which they come.
 */
export function comparable({ status: _, result, ...others }: Answer): unknown {
  const answer = { result: result ?? (others.error === undefined ? {} : undefined), ...others };
  const known = new Map<string, string>();
  const numbered = (found: string): string => known.get(found) ?? known.set(found, `#${known.size + 1}`).get(found) ?? "";
  return JSON.parse(JSON.stringify(answer).replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, numbered)) as unknown;
}
