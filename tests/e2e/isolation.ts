// All requests about a task, over both bindings; the callers; and the agents that distinguish callers.

import { createHmac, randomUUID } from "node:crypto";
import { message } from "./client.ts";
import { speakingAll, type Version } from "./speech.ts";

/** The parts of an answer that a caller can compare. */
export interface Answer {
  status: number;
  headers: [string, string][];
  body: string;
}

/** A request about a task, identified by the operation and the binding. */
export interface Question {
  operation: string;
  binding: "JSON-RPC" | "HTTP+JSON";
  version: Version;
  /** Sends the request for the task with this id to the agent with this URL. */
  ask: (base: string, id: string, headers: Headers) => Promise<Answer>;
}

type Headers = Record<string, string>;

/** The id of the webhook that each task has. */
export const HOOK = "hook";

const send = (id: string) => ({ message: { ...message("go on"), messageId: "same", taskId: id } });
const context = (id: string) => ({ message: { ...message("message"), messageId: "same", referenceTaskIds: [id] } });
const config = (taskId: string) => ({ taskId, id: "mine", url: "https://hooks.example.com/mine" });
const hooks = (id: string, rest = "") => `/tasks/${id}/pushNotificationConfigs${rest}`;

/** Each operation on a task: its name, its parameters, and its method, path and body. The headers are those for generations and events. */
const OPERATIONS: [string, (id: string) => object, [string, (id: string) => string, ((id: string) => object)?], Headers?][] = [
  ["GetTask", (id) => ({ id }), ["GET", (id) => `/tasks/${id}`]],
  ["GetTask", (id) => ({ id, historyLength: 0 }), ["GET", (id) => `/tasks/${id}?historyLength=0`], { "after-generation": "99", prefer: "wait=0" }],
  ["GetTaskTimeline", (id) => ({ id }), ["GET", (id) => `/tasks/${id}/timeline`]],
  ["DeleteTask", (id) => ({ id }), ["DELETE", (id) => `/tasks/${id}`]],
  ["DeleteTask", (id) => ({ id, force: true }), ["DELETE", (id) => `/tasks/${id}?force=true`], { "if-generation-match": "99" }],
  ["CancelTask", (id) => ({ id }), ["POST", (id) => `/tasks/${id}:cancel`, () => ({})]],
  ["CancelTask", (id) => ({ id }), ["POST", (id) => `/tasks/${id}:cancel`, () => ({})], { "if-generation-match": "99" }],
  ["SendMessage", send, ["POST", () => "/message:send", send]],
  ["SendMessage", send, ["POST", () => "/message:send", send], { "if-generation-match": "99" }],
  ["SendMessage", send, ["POST", () => "/message:send", send], { "idempotency-key": "shared" }],
  ["SendStreamingMessage", send, ["POST", () => "/message:stream", send]],
  ["SubscribeToTask", (id) => ({ id }), ["POST", (id) => `/tasks/${id}:subscribe`, () => ({})]],
  ["SubscribeToTask", (id) => ({ id }), ["GET", (id) => `/tasks/${id}:subscribe`], { "last-event-id": "1" }],
  ["SubscribeToTask", (id) => ({ id }), ["GET", (id) => `/tasks/${id}:subscribe`], { "last-event-id": "99" }],
  ["CreateTaskPushNotificationConfig", config, ["POST", (id) => hooks(id), config]],
  ["GetTaskPushNotificationConfig", (taskId) => ({ taskId, id: HOOK }), ["GET", (id) => hooks(id, `/${HOOK}`)]],
  ["ListTaskPushNotificationConfigs", (taskId) => ({ taskId }), ["GET", (id) => hooks(id)]],
  ["ListTaskPushNotificationDeliveries", (taskId) => ({ taskId, id: HOOK }), ["GET", (id) => hooks(id, `/${HOOK}/deliveries`)]],
  ["RedeliverTaskPushNotifications", (taskId) => ({ taskId, id: HOOK, fromGeneration: 99 }), ["POST", (id) => hooks(id, `/${HOOK}:redeliver`), () => ({ fromGeneration: 99 })]],
  ["TestTaskPushNotificationConfig", (taskId) => ({ taskId, id: HOOK }), ["POST", (id) => hooks(id, `/${HOOK}:test`)]],
  ["VerifyTaskPushNotificationSignature", (taskId) => ({ taskId, id: HOOK, headers: {}, body: "" }), ["POST", (id) => hooks(id, `/${HOOK}:verify`), () => ({ headers: {}, body: "" })]],
  ["DeleteTaskPushNotificationConfig", (taskId) => ({ taskId, id: HOOK }), ["DELETE", (id) => hooks(id, `/${HOOK}`)]],
];

/** All requests about a task in 1.0. */
export const QUESTIONS: Question[] = OPERATIONS.flatMap(([operation, params, [verb, path, body], extra = {}]) => [
  { operation, version: "1.0" as const, binding: "JSON-RPC" as const, ask: (base, id, headers) => post(base, id, operation, params(id), { ...extra, ...headers }) },
  {
    operation,
    version: "1.0" as const,
    binding: "HTTP+JSON" as const,
    ask: (base, id, headers) => fetched(base + path(id), id, verb, body?.(id), { ...extra, ...headers }),
  },
]);

const said = (id: string) => ({ messageId: "same", role: "user", parts: [{ kind: "text", text: "go on" }], taskId: id });
const proto = (id: string) => ({ message: { messageId: "same", role: "ROLE_USER", content: [{ text: "go on" }], taskId: id } });
const hook = { url: "https://hooks.example.com/mine" };

/** Each operation in older versions: its name, the version and its name there, its parameters, and its method, path and body. */
const OLDER: [string, Version, string, (id: string) => object, [string, (id: string) => string, ((id: string) => object)?]?][] = [
  ["GetTask", "0.3", "tasks/get", (id) => ({ id }), ["GET", (id) => `/v1/tasks/${id}`]],
  ["CancelTask", "0.3", "tasks/cancel", (id) => ({ id }), ["POST", (id) => `/v1/tasks/${id}:cancel`, () => ({})]],
  ["SendMessage", "0.3", "message/send", (id) => ({ message: said(id) }), ["POST", () => "/v1/message:send", proto]],
  ["SendStreamingMessage", "0.3", "message/stream", (id) => ({ message: said(id) }), ["POST", () => "/v1/message:stream", proto]],
  ["SubscribeToTask", "0.3", "tasks/resubscribe", (id) => ({ id }), ["GET", (id) => `/v1/tasks/${id}:subscribe`]],
  ["CreateTaskPushNotificationConfig", "0.3", "tasks/pushNotificationConfig/set", (taskId) => ({ taskId, pushNotificationConfig: hook })],
  ["GetTaskPushNotificationConfig", "0.3", "tasks/pushNotificationConfig/get", (id) => ({ id }), ["GET", (id) => `/v1${hooks(id, `/${HOOK}`)}`]],
  ["ListTaskPushNotificationConfigs", "0.3", "tasks/pushNotificationConfig/list", (id) => ({ id }), ["GET", (id) => `/v1${hooks(id)}`]],
  ["DeleteTaskPushNotificationConfig", "0.3", "tasks/pushNotificationConfig/delete", (id) => ({ id, pushNotificationConfigId: HOOK }), ["DELETE", (id) => `/v1${hooks(id, `/${HOOK}`)}`]],
  ["SendMessage", "0.1", "tasks/send", (id) => ({ id, message: { role: "user", parts: [{ type: "text", text: "go on" }] } })],
  ["SendStreamingMessage", "0.1", "tasks/sendSubscribe", (id) => ({ id, message: { role: "user", parts: [{ type: "text", text: "go on" }] } })],
  ["CreateTaskPushNotificationConfig", "0.1", "tasks/pushNotification/set", (id) => ({ id, pushNotificationConfig: hook })],
  ["GetTaskPushNotificationConfig", "0.1", "tasks/pushNotification/get", (id) => ({ id })],
];

/** All requests about a task in older versions, for the operations that differ. */
export const OLDER_QUESTIONS: Question[] = OLDER.flatMap(([operation, version, method, params, rest]) => {
  const spoken: Headers = { "a2a-version": version === "0.3" ? "0.3" : "" };
  const over = (binding: Question["binding"], ask: Question["ask"]): Question => ({ operation, version, binding, ask });
  const rpc = over("JSON-RPC", (base, id, headers) => post(base, id, method, params(id), { ...spoken, ...headers }));
  if (rest === undefined) return [rpc];
  const [verb, path, body] = rest;
  return [rpc, over("HTTP+JSON", (base, id, headers) => fetched(base + path(id), id, verb, body?.(id), { ...spoken, ...headers }))];
});

/** A stream whose hello is too long for a header: the socket is open before its caller is known. */
export const LONG: Question = {
  operation: "SubscribeToTask",
  binding: "JSON-RPC",
  version: "1.0",
  ask: (base, id, headers) => post(base, id, "SubscribeToTask", { id }, { "last-event-id": "1", ...headers }, "9".repeat(10_000)),
};

/** A send that only refers to a task. */
export const REFERENCE: Question = {
  operation: "SendMessage",
  binding: "JSON-RPC",
  version: "1.0",
  ask: (base, id, headers) => post(base, id, "SendMessage", context(id), headers),
};

function post(base: string, id: string, method: string, params: object, headers: Headers, rpcId = "1"): Promise<Answer> {
  return fetched(base, id, "POST", { jsonrpc: "2.0", id: rpcId, method, params }, headers);
}

async function fetched(url: string, id: string, verb: string, body: object | undefined, headers: Headers): Promise<Answer> {
  const type: Headers = body === undefined ? {} : { "content-type": "application/json" };
  const init: RequestInit = { method: verb, headers: { "a2a-version": "1.0", ...type, ...headers } };
  if (body !== undefined) init.body = JSON.stringify(body);
  const response = await fetch(url, init);
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  // The first piece of a stream is enough.
  const text = isStream ? await firstOf(response) : await response.text();
  const names = [...response.headers].filter(([name]) => !OWN.has(name));
  return { status: response.status, headers: names, body: text.replaceAll(id, "<id>") };
}

/** Headers that depend on the time or on the request. */
const OWN = new Set(["date", "x-request-id", "request-id", "traceparent", "connection", "keep-alive", "transfer-encoding", "content-length"]);

async function firstOf(response: Response): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

/** The secret of the tokens, and the API keys by their callers. */
export const SECRETS = {
  TOKENS: "a secret of tokens that is long enough",
  KEY_ALICE: `alice-${randomUUID()}`,
  KEY_MIA: `mia-${randomUUID()}`,
  KEY_BOB: `bob-${randomUUID()}`,
  KEY_OPS: `ops-${randomUUID()}`,
};

const key = (name: keyof typeof SECRETS): Headers => ({ "x-api-key": SECRETS[name] });

/** A valid token for the agents, with these claims added or replaced. */
export function token(claims: object): Headers {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const input = `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: "bob", aud: "agents", exp: now + 600, ...claims })}`;
  const signature = createHmac("sha256", SECRETS.TOKENS).update(input).digest("base64url");
  return { authorization: `Bearer ${input}.${signature}` };
}

const long = Math.floor(Date.now() / 1000) - 3_600;

/** The callers that request a task of alice from the agent `guarded`: their headers, their agent, and their relation to the task. */
export const CALLERS: Record<string, { headers: Headers; path?: string; is: "owner" | "stranger" | "nobody" | "operator" | "no operator" }> = {
  "the owner": { headers: key("KEY_ALICE"), is: "owner" },
  "a member of its group": { headers: key("KEY_MIA"), is: "owner" },
  "another of its group by token": { headers: token({ sub: "tom", team: "blue" }), is: "stranger" },
  "another caller": { headers: key("KEY_BOB"), is: "stranger" },
  "a caller with a token": { headers: token({ sub: "alice" }), is: "stranger" },
  "an operator who does not say so": { headers: key("KEY_OPS"), is: "stranger" },
  "the owner at another agent": { headers: key("KEY_ALICE"), path: "/other", is: "stranger" },
  "an operator at another agent": { headers: { ...key("KEY_OPS"), "act-as": "operator" }, path: "/other", is: "operator" },
  "an anonymous caller of an open agent": { headers: {}, path: "/demo", is: "stranger" },
  "an operator": { headers: { ...key("KEY_OPS"), "act-as": "operator" }, is: "operator" },
  "the owner as if it were an operator": { headers: { ...key("KEY_ALICE"), "act-as": "operator" }, is: "no operator" },
  "an anonymous caller": { headers: {}, is: "nobody" },
  "a caller with an unknown key": { headers: { "x-api-key": "guessed-and-wrong" }, is: "nobody" },
  "a caller with an expired token": { headers: token({ exp: long }), is: "nobody" },
  "a caller with a token for another audience": { headers: token({ aud: "others" }), is: "nobody" },
};

/** The agents of the tests, and two with access rules. */
export function agentsOf(testAgents: string): string {
  const embedded = JSON.parse(testAgents) as { agents: { slug: string }[] };
  const demo = embedded.agents.find(({ slug }) => slug === "demo");
  const caller = (id: string, claims = {}, permissions: string[] = []) => ({ id, secrets: [`KEY_${id.toUpperCase()}`], claims, permissions });
  const callers = [caller("alice", { team: "blue" }), caller("mia", { team: "blue" }), caller("bob"), caller("ops", {}, ["operator"])];
  const schemes = {
    key: { kind: "api_key", name: "X-Api-Key", callers },
    jwt: { kind: "jwt", audience: ["agents"], secrets: ["TOKENS"] },
  };
  const known = ["guarded", "other"].map((slug) => ({ ...demo, slug, default: false, access: { schemes, share_by: "team" } }));
  const closed = { ...demo, slug: "closed", default: false, access: { open: true } };
  return speakingAll(JSON.stringify({ ...embedded, agents: [...embedded.agents, ...known, closed] }));
}
