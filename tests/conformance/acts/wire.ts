// What the abstract names of ACTS are on the wire. Where the tables of ACTS §4.1 and §6.2 differ from the specification of A2A 1.0.1 (§5.3,
// §5.4, §9.5), the latter goes first, as ACTS §6.2 wants it: paths of webhooks, the verb of a subscription, codes and statuses of errors.
import { randomUUID } from "node:crypto";
import { isMap, type Members } from "./document.ts";

export interface Operation {
  /** The method of JSON-RPC; without one it is a GET over HTTP in every binding. */
  method?: string;
  verb: "GET" | "POST" | "DELETE";
  /** With the parameters that it takes, as `{id}`. */
  path: string;
  streams?: true;
}

export const OPERATIONS: Record<string, Operation> = {
  send_message: { method: "SendMessage", verb: "POST", path: "/message:send" },
  send_streaming_message: { method: "SendStreamingMessage", verb: "POST", path: "/message:stream", streams: true },
  get_task: { method: "GetTask", verb: "GET", path: "/tasks/{id}" },
  list_tasks: { method: "ListTasks", verb: "GET", path: "/tasks" },
  cancel_task: { method: "CancelTask", verb: "POST", path: "/tasks/{id}:cancel" },
  subscribe_to_task: { method: "SubscribeToTask", verb: "POST", path: "/tasks/{id}:subscribe", streams: true },
  get_agent_card: { verb: "GET", path: "/.well-known/agent-card.json" },
  get_extended_agent_card: { method: "GetExtendedAgentCard", verb: "GET", path: "/extendedAgentCard" },
  create_push_config: { method: "CreateTaskPushNotificationConfig", verb: "POST", path: "/tasks/{taskId}/pushNotificationConfigs" },
  get_push_config: { method: "GetTaskPushNotificationConfig", verb: "GET", path: "/tasks/{taskId}/pushNotificationConfigs/{id}" },
  list_push_configs: { method: "ListTaskPushNotificationConfigs", verb: "GET", path: "/tasks/{taskId}/pushNotificationConfigs" },
  delete_push_config: { method: "DeleteTaskPushNotificationConfig", verb: "DELETE", path: "/tasks/{taskId}/pushNotificationConfigs/{id}" },
};

/** The operation that is meant, and its parameters as the request of A2A has them (ACTS §4.3). */
export function requestOf(operation: string, params: Members): { operation: string; params: Members } {
  if (operation === "get_agent_card" && params["extended"] === true) return { operation: "get_extended_agent_card", params: {} };
  const { message, pushNotificationConfig, cursor, ...rest } = params;
  if (isMap(message)) {
    // What a message belongs to is a member of the message; tests write it beside the message, too.
    const { taskId, contextId, ...others } = rest;
    const about = { ...(taskId !== undefined && { taskId }), ...(contextId !== undefined && { contextId }) };
    return { operation, params: { ...others, message: { messageId: randomUUID(), ...about, ...message } } };
  }
  const page = cursor === undefined ? {} : { pageToken: cursor };
  return { operation, params: { ...rest, ...page, ...(isMap(pushNotificationConfig) ? pushNotificationConfig : {}) } };
}

/** The path of an operation with its parameters, and those that the path does not take. */
export function fillPath(path: string, params: Members): { path: string; rest: Members } {
  const rest = { ...params };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value ?? ""));
  });
  return { path: filled, rest };
}

/** Code of JSON-RPC and status of HTTP. Those without a reason are errors of JSON-RPC alone (A2A §9.5). */
interface Known {
  code: number;
  status: number;
  reason?: string;
}

const ERRORS: Record<string, Known> = {
  TaskNotFoundError: { code: -32001, status: 404, reason: "TASK_NOT_FOUND" },
  TaskNotCancelableError: { code: -32002, status: 400, reason: "TASK_NOT_CANCELABLE" },
  PushNotificationNotSupportedError: { code: -32003, status: 400, reason: "PUSH_NOTIFICATION_NOT_SUPPORTED" },
  UnsupportedOperationError: { code: -32004, status: 400, reason: "UNSUPPORTED_OPERATION" },
  ContentTypeNotSupportedError: { code: -32005, status: 400, reason: "CONTENT_TYPE_NOT_SUPPORTED" },
  InvalidAgentResponseError: { code: -32006, status: 500, reason: "INVALID_AGENT_RESPONSE" },
  ExtendedAgentCardNotConfiguredError: { code: -32007, status: 400, reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED" },
  ExtensionSupportRequiredError: { code: -32008, status: 400, reason: "EXTENSION_SUPPORT_REQUIRED" },
  VersionNotSupportedError: { code: -32009, status: 400, reason: "VERSION_NOT_SUPPORTED" },
  JSONParseError: { code: -32700, status: 400 },
  MethodNotFoundError: { code: -32601, status: 404 },
  InvalidParamsError: { code: -32602, status: 400 },
  InternalError: { code: -32603, status: 500 },
};

/** Names that ACTS has for errors of 1.0.1 with another name: A2A §3.3.4 has no error of its own for streaming. */
const ALIASES: Record<string, string> = {
  StreamingNotSupportedError: "UnsupportedOperationError",
  ExtendedCardNotSupportedError: "ExtendedAgentCardNotConfiguredError",
};

export const ERROR_TYPES = [...Object.keys(ERRORS), ...Object.keys(ALIASES)];

/** An assertion on the type of an error with the names of 1.0.1. */
export function withOwnNames(assertion: unknown): unknown {
  if (typeof assertion === "string") return ALIASES[assertion] ?? assertion;
  if (Array.isArray(assertion)) return assertion.map(withOwnNames);
  if (!isMap(assertion)) return assertion;
  return Object.fromEntries(Object.entries(assertion).map(([name, value]) => [name, withOwnNames(value)]));
}

/** An error as either binding tells it. */
export interface WireError {
  type: string;
  message: unknown;
  details: unknown;
}

/** The error of a JSON-RPC answer, by its code. */
export function rpcError({ code, message, data }: Members): WireError {
  const [type] = Object.entries(ERRORS).find(([, known]) => known.code === code) ?? [`code ${code}`];
  return { type, message, details: data };
}

/** The error of an HTTP+JSON answer: by the reason in its details, since several errors share a status (A2A §11.6), else by its status. */
export function restError(status: number, body: unknown): WireError {
  const error = isMap(body) && isMap(body["error"]) ? body["error"] : {};
  const details = Array.isArray(error["details"]) ? error["details"].filter(isMap) : [];
  const reason = details.map((detail) => detail["reason"]).find((reason) => reason !== undefined);
  const isMeant = (known: Known): boolean => (reason === undefined ? known.reason === undefined && known.status === status : known.reason === reason);
  // Of those without a reason, a request that does not fit is the usual one.
  const [type] = Object.entries(ERRORS).reverse().find(([, known]) => isMeant(known)) ?? [String(reason ?? `status ${status}`)];
  return { type, message: error["message"], details: error["details"] };
}
