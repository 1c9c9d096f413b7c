// A request of the console as code that repeats it elsewhere. Secrets become `$TOKEN`. Pure.
import { CREDENTIALS_MEDIA_TYPE } from "../../api/types.ts";
import { javascriptProgram, pythonProgram, type Program } from "../../parts/programs.ts";
import { quoted } from "../../parts/words.ts";

/** A sent request. A secret in a header or in the query is replaced by `…`; in `authorization`, its scheme stays. */
export interface Sent {
  method: string;
  url: string;
  headers: readonly (readonly [string, string])[];
  body: string;
}

/** A call of an operation of A2A. */
export interface Call {
  /** The URL of the agent. */
  agent: string;
  operation: string;
  params: Record<string, unknown>;
  /** The headers for authentication: their values are secrets. */
  headers: [string, string][];
}

const SECRET = "…";
/** Headers that a repetition must not have: with the same key, the server would return the task of the first send. */
const OWN_HEADERS = ["idempotency-key"];

/** A JSON body in which a message's credentials for its task are removed. */
export function masked(body: string): string {
  if (!body.includes(CREDENTIALS_MEDIA_TYPE)) return body;
  try {
    return JSON.stringify(JSON.parse(body), (_, value: unknown) => {
      const part = value as { mediaType?: unknown; data?: unknown } | null;
      const hides = typeof part === "object" && part !== null && part.mediaType === CREDENTIALS_MEDIA_TYPE && typeof part.data === "object" && part.data !== null;
      return hides ? { ...part, data: Object.fromEntries(Object.keys(part.data as object).map((name) => [name, SECRET])) } : value;
    });
  } catch {
    return "";
  }
}

/** The call of JSON-RPC in a request. */
export function callIn(sent: Sent): Call | undefined {
  try {
    const body = JSON.parse(masked(sent.body)) as { method?: unknown; params?: unknown };
    if (typeof body.method !== "string") return undefined;
    const headers = sent.headers.filter(([, value]) => value.endsWith(SECRET)).map(([name, value]): [string, string] => [name, value]);
    return { agent: sent.url.split("?")[0] ?? "", operation: body.method, params: (body.params ?? {}) as Record<string, unknown>, headers };
  } catch {
    return undefined;
  }
}

/** The request as a curl command. */
export function curlOf({ method, url, headers, body }: Sent): string {
  const sent = masked(body);
  const lines = [
    `curl -sN ${withSecrets(url.replaceAll(encodeURIComponent(SECRET), SECRET))}`,
    ...(method === "GET" || (method === "POST" && sent !== "") ? [] : [`-X ${method}`]),
    ...headers.filter(([name]) => !OWN_HEADERS.includes(name.toLowerCase())).map(([name, value]) => `-H ${withSecrets(`${name}: ${value}`)}`),
    ...(sent === "" ? [] : [`--data-raw ${body.includes(CREDENTIALS_MEDIA_TYPE) ? withSecrets(sent) : quoted(sent)}`]),
  ];
  return lines.join(" \\\n  ");
}

/** The call with the JavaScript SDK; undefined for an operation that is not supported here. */
export function javascriptOf({ agent, operation, params, headers }: Call): string | undefined {
  const known = OPERATIONS[operation];
  if (known === undefined) return undefined;
  const request = JSON.stringify(fresh(params, "MESSAGE_ID"), null, 2).replace('"MESSAGE_ID"', "crypto.randomUUID()");
  const given = headers.map(([name, value]) => `${JSON.stringify(name)}: ${inJavascript(value)}`);
  return javascriptProgram({ ...programOf(agent, known.type, operation), method: known.javascript, request, headers: given });
}

/** The call with the Python SDK; undefined for an operation that is not supported here. */
export function pythonOf({ agent, operation, params, headers }: Call): string | undefined {
  const known = OPERATIONS[operation];
  if (known === undefined) return undefined;
  const request = pythonic(fresh(params, "MESSAGE_ID"), 2).replace('"MESSAGE_ID"', "str(uuid.uuid4())");
  const given = headers.map(([name, value]) => `${JSON.stringify(name)}: ${inPython(value)}`);
  return pythonProgram({ ...programOf(agent, known.type, operation), method: known.python, request, headers: given });
}

function programOf(agent: string, type: string, operation: string): Pick<Program, "base" | "card" | "type" | "isMany" | "isStream"> {
  const stream = isStream(operation);
  return { base: `${agent.replace(/\/$/, "")}/`, card: ".well-known/agent-card.json", type, isMany: stream || operation === "SendMessage", isStream: stream };
}

const OPERATIONS: Record<string, { type: string; javascript: string; python: string }> = {
  SendMessage: { type: "SendMessageRequest", javascript: "sendMessage", python: "send_message" },
  SendStreamingMessage: { type: "SendMessageRequest", javascript: "sendMessageStream", python: "send_message" },
  GetTask: { type: "GetTaskRequest", javascript: "getTask", python: "get_task" },
  ListTasks: { type: "ListTasksRequest", javascript: "listTasks", python: "list_tasks" },
  CancelTask: { type: "CancelTaskRequest", javascript: "cancelTask", python: "cancel_task" },
  SubscribeToTask: { type: "SubscribeToTaskRequest", javascript: "resubscribeTask", python: "subscribe" },
};

function isStream(operation: string): boolean {
  return operation === "SendStreamingMessage" || operation === "SubscribeToTask";
}

/** The parameters with another message id; with the same id the server would recognize a repetition. */
function fresh(params: Record<string, unknown>, id: string): Record<string, unknown> {
  const { message } = params;
  return typeof message === "object" && message !== null ? { ...params, message: { ...message, messageId: id } } : params;
}

/** Like `quoted`; a secret becomes a variable between the quotes. */
function withSecrets(text: string): string {
  return text
    .split(SECRET)
    .map(quoted)
    .join('"$TOKEN"')
    .replace(/^''(?=")|(?<=")''$/g, "");
}

function inJavascript(value: string): string {
  return `\`${value.replace(SECRET, "${process.env.TOKEN}")}\``;
}

function inPython(value: string): string {
  return value === SECRET ? 'os.environ["TOKEN"]' : `${JSON.stringify(value.replace(SECRET, ""))} + os.environ["TOKEN"]`;
}

/** A JSON value in Python syntax. */
function pythonic(value: unknown, depth: number): string {
  const [inner, outer] = ["    ".repeat(depth + 1), "    ".repeat(depth)];
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const lines = Array.isArray(value) ? value.map((one) => `${inner}${pythonic(one, depth + 1)},`) : Object.entries(value).map(([name, one]) => `${inner}${JSON.stringify(name)}: ${pythonic(one, depth + 1)},`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join("\n")}\n${outer}${close}`;
}
