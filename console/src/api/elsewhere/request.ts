// Requests for an agent elsewhere: an operation of A2A 1.0 in the version and the binding of its interface.
import { isObject, list, members, text, type Members } from "../card.ts";
import type { CallOptions } from "../endpoint.ts";
import { Problem } from "../problem.ts";
import type { Asked } from "./exchange.ts";

/** The versions that the console supports. Agents of 0.2 are called with 0.3. */
export type Version = "1.0" | "0.3" | "0.1";

/** The interface through which an agent is called. */
export interface CalledInterface {
  url: string;
  protocolBinding: "JSONRPC" | "HTTP+JSON";
  protocolVersion: Version;
  tenant: string | null;
  /** True if the card declares streaming. */
  streams: boolean;
}

/** An operation of 1.0: its older methods of JSON-RPC, and its method and path over HTTP+JSON. */
interface Row {
  older: { [version in "0.3" | "0.1"]?: string };
  path: { [version in "1.0" | "0.3"]?: (params: Members) => [verb: string, path: string] };
}

const task = (params: Members, name = "id"): string => `tasks/${encodeURIComponent(text(params[name]))}`;
const both = (path: (params: Members) => [string, string]): Row["path"] => ({ "1.0": path, "0.3": path });

const OPERATIONS: Record<string, Row> = {
  SendMessage: { older: { "0.3": "message/send", "0.1": "tasks/send" }, path: both(() => ["POST", "message:send"]) },
  SendStreamingMessage: { older: { "0.3": "message/stream", "0.1": "tasks/sendSubscribe" }, path: both(() => ["POST", "message:stream"]) },
  GetTask: { older: { "0.3": "tasks/get", "0.1": "tasks/get" }, path: both((params) => ["GET", task(params) + queryOf(params, "id")]) },
  ListTasks: { older: {}, path: { "1.0": (params) => ["GET", `tasks${queryOf(params)}`] } },
  CancelTask: { older: { "0.3": "tasks/cancel", "0.1": "tasks/cancel" }, path: both((params) => ["POST", `${task(params)}:cancel`]) },
  SubscribeToTask: { older: { "0.3": "tasks/resubscribe", "0.1": "tasks/resubscribe" }, path: both((params) => ["POST", `${task(params)}:subscribe`]) },
  ListTaskPushNotificationConfigs: {
    older: { "0.3": "tasks/pushNotificationConfig/list" },
    path: both((params) => ["GET", `${task(params, "taskId")}/pushNotificationConfigs`]),
  },
  GetExtendedAgentCard: {
    older: { "0.3": "agent/getAuthenticatedExtendedCard" },
    path: { "1.0": () => ["GET", "extendedAgentCard"], "0.3": () => ["GET", "card"] },
  },
};

/** True if an operation is answered by a stream. */
export const isStream = (operation: string): boolean => operation === "SendStreamingMessage" || operation === "SubscribeToTask";

/** The request of an operation with its parameters of 1.0. @throws {Problem} if the version or the binding has no such operation. */
export function requestOf(called: CalledInterface, operation: string, params: object, options: CallOptions): Asked {
  const { url, protocolBinding, protocolVersion: version, tenant } = called;
  const row = OPERATIONS[operation];
  const given = params as Members;
  const none = () => new Problem(`A2A ${version} over ${protocolBinding} has no ${operation}.`, { status: 400 });
  const written = isSend(operation) ? WRITERS[version](given, protocolBinding) : version === "1.0" ? given : older(given);
  const headers: Asked["headers"] = [
    ["accept", isStream(operation) ? "text/event-stream, application/json" : "application/json"],
    ["a2a-version", version === "0.1" ? undefined : version],
    ["last-event-id", options.lastEventId],
    ...Object.entries(options.headers ?? {}).filter(([name]) => name !== "act-as"),
  ];
  const type: Asked["headers"][number] = ["content-type", "application/json"];
  if (protocolBinding === "JSONRPC") {
    const method = version === "1.0" ? (row === undefined ? undefined : operation) : row?.older[version];
    if (method === undefined) throw none();
    const inTenant = version === "1.0" && tenant !== null ? { tenant, ...written } : written;
    return { method: "POST", url, headers: [type, ...headers], body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: inTenant }) };
  }
  const place = version === "0.1" ? undefined : row?.path[version]?.(given);
  if (place === undefined) throw none();
  const [verb, path] = place;
  const prefix = version === "0.3" ? "v1/" : tenant === null ? "" : `${encodeURIComponent(tenant)}/`;
  const body = isSend(operation) ? JSON.stringify(written) : verb === "POST" ? "{}" : undefined;
  return { method: verb, url: below(url, prefix + path), headers: body === undefined ? headers : [type, ...headers], body };
}

const isSend = (operation: string): boolean => operation === "SendMessage" || operation === "SendStreamingMessage";

/** The parameters of a send in each version. */
const WRITERS: Record<Version, (params: Members, binding: CalledInterface["protocolBinding"]) => Members> = {
  "1.0": (params) => params,
  "0.3": (params, binding) => {
    const configuration = members(params["configuration"]);
    const { returnImmediately, acceptedOutputModes, historyLength } = configuration;
    return {
      ...params,
      message: binding === "JSONRPC" ? messageOf03(members(params["message"])) : messageOfProto(members(params["message"])),
      // The default of `blocking` differs between servers, and servers of 0.2 require the output modes.
      configuration: { acceptedOutputModes: list(acceptedOutputModes), blocking: returnImmediately !== true, ...(historyLength === undefined ? {} : { historyLength }) },
    };
  },
  "0.1": (params) => {
    const message = members(params["message"]);
    const { acceptedOutputModes, historyLength } = members(params["configuration"]);
    return {
      // The client chooses the id of the task, so a repeated message begins no second task.
      id: text(message["taskId"]) || text(message["messageId"]),
      ...("contextId" in message ? { sessionId: message["contextId"] } : {}),
      message: { role: roleOf(message), parts: list(message["parts"]).map((part) => partOf(members(part), "type")), ...metadataOf(message) },
      ...(list(acceptedOutputModes).length === 0 ? {} : { acceptedOutputModes }),
      ...(historyLength === undefined ? {} : { historyLength }),
      ...metadataOf(params),
    };
  },
};

function messageOf03(message: Members): Members {
  const parts = list(message["parts"]).map((part) => partOf(members(part), "kind"));
  return { ...message, kind: "message", role: roleOf(message), parts };
}

/** A message over HTTP+JSON of 0.3, with the member names of its proto. */
function messageOfProto({ parts, ...message }: Members): Members {
  const content = list(parts).map((json) => {
    const { text: words, raw, url, data, filename, mediaType, metadata } = members(json);
    const about = { ...(mediaType === undefined ? {} : { mimeType: mediaType }), ...(filename === undefined ? {} : { name: filename }) };
    const more = metadata === undefined ? {} : { metadata };
    if (raw !== undefined) return { file: { fileWithBytes: raw, ...about }, ...more };
    if (url !== undefined) return { file: { fileWithUri: url, ...about }, ...more };
    return data === undefined ? { text: words, ...more } : { data: { data: inObject(data) }, ...more };
  });
  return { ...message, content };
}

/** A part of JSON-RPC before 1.0; `tag` is the name of the member with its kind. */
function partOf({ text: words, raw, url, data, filename, mediaType, metadata }: Members, tag: "kind" | "type"): Members {
  const about = { ...(filename === undefined ? {} : { name: filename }), ...(mediaType === undefined ? {} : { mimeType: mediaType }) };
  const more = metadata === undefined ? {} : { metadata };
  if (raw !== undefined) return { [tag]: "file", file: { bytes: raw, ...about }, ...more };
  if (url !== undefined) return { [tag]: "file", file: { uri: url, ...about }, ...more };
  return data === undefined ? { [tag]: "text", text: words, ...more } : { [tag]: "data", data: inObject(data), ...more };
}

/** Data in the form of older versions: always an object. */
function inObject(data: unknown): unknown {
  return isObject(data) ? data : { value: data };
}

/** Parameters with the task's id as `id`, the name in older versions of `taskId`. */
function older({ taskId, ...params }: Members): Members {
  return taskId === undefined ? params : { id: taskId, ...params };
}

function roleOf(message: Members): string {
  return message["role"] === "ROLE_AGENT" ? "agent" : "user";
}

function metadataOf(of: Members): Members {
  return "metadata" in of ? { metadata: of["metadata"] } : {};
}

function queryOf(params: Members, ...inPath: string[]): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (!inPath.includes(name) && ["string", "number", "boolean"].includes(typeof value) && value !== "") query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
}

/** A path appended to a URL, which may end with a slash or have a query. */
function below(url: string, path: string): string {
  const [place = "", query] = url.split("?");
  const whole = `${place.replace(/\/+$/, "")}/${path}`;
  return query === undefined ? whole : `${whole}${whole.includes("?") ? "&" : "?"}${query}`;
}
