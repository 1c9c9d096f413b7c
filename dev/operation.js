// The operation and the agent of a request: from its path and its body in any version that the server supports, with the names of A2A 1.0.

/** The older names of methods of JSON-RPC. */
const OLDER = new Map(Object.entries({
  "message/send": "SendMessage",
  "tasks/send": "SendMessage",
  "message/stream": "SendStreamingMessage",
  "tasks/sendSubscribe": "SendStreamingMessage",
  "tasks/get": "GetTask",
  "tasks/cancel": "CancelTask",
  "tasks/resubscribe": "SubscribeToTask",
  "tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
  "tasks/pushNotification/set": "CreateTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig",
  "tasks/pushNotification/get": "GetTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
  "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
  "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
}));

/** The methods of 1.0, and those of this server's extensions. */
const METHODS = new Set([
  ...OLDER.values(), "ListTasks", "ListTaskPushNotificationDeliveries", "RedeliverTaskPushNotifications", "GetTaskTimeline", "DeleteTask", "DeleteContext", "ListWebhooks",
]);

/**
 * The resources of HTTP+JSON, without the prefix of an older version: their paths, and their operations by method.
 *
 * @type {[RegExp, Record<string, string>][]}
 */
const RESOURCES = [
  [/^message:send$/, { POST: "SendMessage" }],
  [/^message:stream$/, { POST: "SendStreamingMessage" }],
  [/^tasks\/send$/, { POST: "SendMessage" }],
  [/^tasks$/, { GET: "ListTasks" }],
  [/^tasks\/([^/:]+):cancel$/, { POST: "CancelTask" }],
  [/^tasks\/([^/:]+):subscribe$/, { GET: "SubscribeToTask", POST: "SubscribeToTask" }],
  [/^tasks\/([^/]+)\/timeline$/, { GET: "GetTaskTimeline" }],
  [/^tasks\/([^/]+)\/pushNotificationConfigs$/, { GET: "ListTaskPushNotificationConfigs", POST: "CreateTaskPushNotificationConfig" }],
  [/^tasks\/([^/]+)\/pushNotificationConfigs\/[^/]+\/deliveries$/, { GET: "ListTaskPushNotificationDeliveries" }],
  [/^tasks\/([^/]+)\/pushNotificationConfigs\/[^/]+:redeliver$/, { POST: "RedeliverTaskPushNotifications" }],
  [/^tasks\/([^/]+)\/pushNotificationConfigs\/[^/]+$/, { GET: "GetTaskPushNotificationConfig", DELETE: "DeleteTaskPushNotificationConfig" }],
  [/^contexts\/[^/]+$/, { DELETE: "DeleteContext" }],
  [/^tasks\/([^/:]+)$/, { GET: "GetTask", DELETE: "DeleteTask" }],
  [/^(?:extendedAgentCard|card|agent\/authenticatedExtendedCard)$/, { GET: "GetExtendedAgentCard" }],
];

/** The name of requests for the card among the operations. */
export const CARD = "card";

/**
 * @typedef {object} Asked
 * @property {string | null} agent the slug of the agent; null is the default agent
 * @property {string | null} operation its name in A2A 1.0, or `card`; null if it is unknown
 * @property {string | null} taskId
 * @property {Record<string, any> | null} message
 */

/**
 * The operation and the agent of a request; undefined if the request is not for an agent.
 *
 * @param {string} method @param {string} path @param {string | undefined} body
 * @returns {Asked | undefined}
 */
export function readAsked(method, path, body) {
  const trimmed = path.replace(/^\/+/, "").replace(/\/$/, "");
  const card = /^(?:([^/]+)\/)?\.well-known\/agent(?:-card)?\.json$/.exec(trimmed);
  if (card !== null) return { agent: card[1] ?? null, operation: CARD, taskId: null, message: null };
  const rpc = /^(?:([^/]+?)(?:\/(?:a2a|subscribe))?)?$/.exec(trimmed);
  if (rpc !== null && (trimmed === "a2a" || !beginsPath(trimmed))) return method === "POST" ? ofRpc(rpc[1], body) : undefined;
  const [first = "", ...below] = trimmed.split("/");
  return beginsPath(first) ? ofRest(null, method, trimmed, body) : ofRest(first, method, below.join("/"), body);
}

/** True if a path with this beginning belongs to the default agent. @param {string} path */
function beginsPath(path) {
  const first = path.split("/")[0] ?? "";
  return ["tasks", "extendedAgentCard", "v1", "a2a", "agent"].includes(first) || first.startsWith("message:");
}

/** @param {string | undefined} slug @param {string | undefined} body @returns {Asked} */
function ofRpc(slug, body) {
  const { method, params } = read(body);
  const operation = METHODS.has(method) ? method : OLDER.get(method);
  const agent = slug === undefined || slug === "a2a" || slug === "subscribe" ? params?.tenant : slug;
  const message = params?.message ?? null;
  return { agent: text(agent) || null, operation: operation ?? null, taskId: text(params?.id) ?? text(params?.taskId) ?? text(message?.taskId), message };
}

/** @param {string | null} slug @param {string} method @param {string} path @param {string | undefined} body @returns {Asked | undefined} */
function ofRest(slug, method, path, body) {
  const resource = path.replace(/^(?:v1|a2a)\//, "");
  for (const [pattern, operations] of RESOURCES) {
    const found = pattern.exec(resource);
    if (found === null) continue;
    const message = read(body).message ?? null;
    const taskId = found[1] === undefined ? text(message?.taskId) : decodeURIComponent(found[1]);
    return { agent: slug, operation: operations[method] ?? null, taskId, message };
  }
  return undefined;
}

/**
 * The JSON object of a body; an empty object if the body is not an object.
 *
 * @param {string | undefined} body @returns {Record<string, any>}
 */
function read(body) {
  try {
    const json = JSON.parse(body ?? "");
    return typeof json === "object" && json !== null ? json : {};
  } catch {
    return {};
  }
}

/** @param {unknown} value @returns {string | null} */
const text = (value) => (typeof value === "string" ? value : null);
