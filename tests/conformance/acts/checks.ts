// Tests whose description says what their steps cannot (most have the tag `runner-special`): headers of answers, two streams at the same
// time, what comes to a webhook, requests without credentials, the schema of answers (by a2a.proto, from which the JSON schema of A2A is made). Each check comes after the steps, and answers what is wrong.
import type { Sink } from "../../e2e/sink.ts";
import { isMap } from "./document.ts";
import { misfit, type Schema } from "./proto.ts";
import { stateOf, TERMINAL } from "./streams.ts";
import type { Answer, Event, Transport } from "./transport.ts";
import { OPERATIONS } from "./wire.ts";

/** What a check works with. */
export interface Checked {
  /** The answers to the steps, by their ids. */
  answers: Map<string, Answer>;
  transport: Transport;
  /** The same agent for a caller without credentials, and for another caller. */
  nobody: Transport;
  other: Transport;
  sink: Sink;
  /** The path of the sink that the webhooks of this test lead to. */
  hook: string;
  /** The messages of a2a.proto. */
  schema: Schema;
}

export type Check = (checked: Checked) => Promise<string | undefined> | string | undefined;

export const CHECKS: Record<string, Check> = {
  "CARD-CACHE-001": ({ answers }) => {
    const { headers } = first(answers);
    return headers.has("cache-control") || headers.has("etag") ? undefined : "the card has neither Cache-Control nor ETag";
  },
  "CARD-SCHEMA-001": ({ answers, schema }) => misfit(schema, "AgentCard", first(answers).root),
  "DM-SERIAL-002": ({ answers, schema }) => misfit(schema, "SendMessageResponse", first(answers).root),
  "JSONRPC-CT-001": ({ answers }) => hasType(answers, "application/json"),
  "REST-CT-001": ({ answers }) => hasType(answers, "application/a2a+json"),
  "DM-FMT-001": ({ answers }) => {
    const snake = namesIn(first(answers).raw).find((name) => /[a-z]_[a-z]/.test(name));
    return snake === undefined ? undefined : `the answer has a member ${snake}`;
  },
  "STREAM-SUB-002": ({ answers }) => {
    const events = first(answers).events ?? [];
    const ends = events.filter(({ root }) => TERMINAL.includes(stateOf(root) ?? ""));
    return ends.length === 1 && ends[0] === events.at(-1) ? undefined : "the stream goes on after its terminal state";
  },
  "STREAM-MULTI-001": async ({ transport }) => {
    const { one, other } = await together(transport, Infinity);
    // A subscription begins with the task; from then on both get the same.
    const tail = JSON.stringify(one.slice(-(other.length - 1)).map(({ root }) => root));
    if (other.length < 3) return `the second stream has ${other.length} events`;
    return tail === JSON.stringify(other.slice(1).map(({ root }) => root)) ? undefined : "the streams differ";
  },
  "STREAM-MULTI-002": async ({ transport }) => {
    const { one, other } = await together(transport, 2);
    const state = stateOf(other.at(-1)?.root);
    return one.length === 2 && state === "TASK_STATE_COMPLETED" ? undefined : `after the first stream was left, the second ended with ${state}`;
  },
  "STREAM-RESUB-001": async ({ transport }) => {
    const { id, events } = await begin(transport, "tck-long-running resubscribe", 1);
    const again = await transport.call("subscribe_to_task", { id }, READING);
    const state = stateOf(again.events?.at(-1)?.root);
    return events.length === 1 && state === "TASK_STATE_COMPLETED" ? undefined : `the second stream ended with ${state}`;
  },
  "SEC-AUTH-003": ({ answers }) => {
    const [foreign, missing] = [...answers.values()].map(indistinct);
    return foreign === missing ? undefined : `the task of another caller is answered ${foreign}, one that is not there ${missing}`;
  },
  "SEC-AUTH-004": ({ nobody }) => refusesAll(nobody),
  "CORE-ERR-009": async ({ other, transport }) => {
    const { id } = await begin(other, "tck-complete-task of another caller");
    const [foreign, missing] = await Promise.all([id, MISSING].map(async (id) => indistinct(await transport.call("get_task", { id }))));
    return foreign === missing ? undefined : `${foreign} instead of ${missing}`;
  },
  "SEC-AUTH-006": ({ answers }) => (first(answers).headers.has("www-authenticate") ? undefined : "there is no WWW-Authenticate"),
  "SEC-PUSH-001": (checked) => delivers(checked, "Bearer test-token"),
  "SEC-PUSH-002": (checked) => delivers(checked, "Bearer expected-token"),
  "PUSH-DELIV-001": (checked) => delivers(checked, "Bearer test-token"),
  "PUSH-DELIV-002": (checked) => delivers(checked),
  "PUSH-DELIV-003": (checked) => delivers(checked),
};

/** The checks that need an agent with credentials, though their tests do not say so. */
export const NEEDS_CALLERS = ["CORE-ERR-009"];

const MISSING = "00000000-0000-0000-0000-000000000000";
const READING = { timeoutMs: 30_000, maxCount: Infinity };

function first(answers: Map<string, Answer>): Answer {
  const [answer] = answers.values();
  if (answer === undefined) throw new Error("no step was answered");
  return answer;
}

function hasType(answers: Map<string, Answer>, wanted: string): string | undefined {
  const type = first(answers).headers.get("content-type") ?? "";
  return type.split(";")[0] === wanted ? undefined : `the media type is ${type}, expected ${wanted}`;
}

/** The names of all members in it. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return isMap(value) ? Object.entries(value).flatMap(([name, member]) => [name, ...namesIn(member)]) : [];
}

/** What a client can tell errors apart by, without the ids that it has sent and that the answer has got. */
function indistinct({ status, error }: Answer): string {
  return `${status} ${JSON.stringify(error)}`.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,}/g, "…").replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "…");
}

/** Begins a task by a stream, which is read to its end, or left after some events. */
async function begin(transport: Transport, text: string, leaveAfter = Infinity, onEvent?: (event: Event, id: string) => void): Promise<{ id: string; events: Event[] }> {
  let id = "";
  const message = { role: "ROLE_USER", parts: [{ text }] };
  const reading = { ...READING, maxCount: leaveAfter, onEvent: (event: Event) => {
    if (isMap(event.root) && isMap(event.root["task"])) id = String(event.root["task"]["id"]);
    onEvent?.(event, id);
  } };
  const { events = [] } = await transport.call("send_streaming_message", { message }, reading);
  return { id, events };
}

/** Begins a task by a stream, and subscribes to the same task while that goes on; the first stream is left after some events. */
async function together(transport: Transport, leaveAfter: number): Promise<{ one: Event[]; other: Event[] }> {
  let second: Promise<Answer> | undefined;
  const { events: one } = await begin(transport, "tck-stream-basic together", leaveAfter, (_, id) => {
    if (id !== "") second ??= transport.call("subscribe_to_task", { id }, READING);
  });
  return { one, other: (await second)?.events ?? [] };
}

/** Every operation without credentials. */
async function refusesAll(nobody: Transport): Promise<string | undefined> {
  const message = { role: "ROLE_USER", parts: [{ text: "tck-complete-task" }] };
  for (const operation of Object.keys(OPERATIONS).filter((name) => name !== "get_agent_card")) {
    const { status } = await nobody.call(operation, operation.startsWith("send") ? { message } : { id: MISSING, taskId: MISSING });
    if (status !== 401) return `${operation} without credentials is answered with ${status}`;
  }
  return undefined;
}

/** Waits for a notification, which must hold an event of a stream, and these credentials. */
async function delivers({ sink, hook }: Checked, authorization?: string): Promise<string | undefined> {
  const arrival = await sink.arrival(hook);
  const kinds = Object.keys(arrival.json<object>()).filter((name) => ["task", "message", "statusUpdate", "artifactUpdate"].includes(name));
  if (kinds.length !== 1) return `the notification is no StreamResponse: ${arrival.body.slice(0, 200)}`;
  const { authorization: shown } = arrival.headers;
  return authorization === undefined || shown === authorization ? undefined : `the notification shows ${shown ?? "no credentials"}`;
}
