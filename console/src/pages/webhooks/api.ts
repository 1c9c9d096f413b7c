// Webhooks, by the routes of docs/webhooks.md.
import { localEndpoint } from "../../api/endpoint.ts";
import { json } from "../../api/http.ts";
import type { StreamResponse, Task } from "../../api/types.ts";
import { actAs } from "../../session/operator.ts";

export type Health = "active" | "failing" | "suspended";

/** The kinds of trouble by which the list can be filtered. */
export type Trouble = "failing" | "suspended" | "deadLetters";

/** An event that was given up, and whose redelivery was not requested. */
export interface DeadLetter {
  generation: number;
  error: string;
  /** The time of the last attempt to send the event, in ms since 1970. */
  at: number;
}

/** A webhook in the list of webhooks in trouble. */
export interface TroubledWebhook {
  taskId: string;
  id: string;
  /** Set for operators who see the webhooks of all callers. */
  owner?: string;
  /** The origin of the webhook's URL. */
  url: string;
  health: Health;
  failingSince: number | null;
  nextAttemptAt: number | null;
  lastError: string | null;
  deliveredGeneration: number;
  deadLetters: DeadLetter[];
  updatedAt: number;
}

/** A registered webhook of a task. */
export interface WebhookConfig {
  id: string;
  taskId: string;
  /** For operators, only the origin. */
  url: string;
  token?: string;
  authentication?: { scheme: string; credentials?: string };
  events?: "all" | "status" | "artifacts";
  signingSecret?: string;
  hasToken?: boolean;
  hasCredentials?: boolean;
  hasSigningSecret?: boolean;
}

/** The beginning of a receiver's answer, if it is text. Operators are not told it. */
export interface AnswerText {
  text: string;
  isCut?: boolean;
}

/** One POST to a webhook. */
export interface Attempt {
  at: number;
  generation: number;
  /** The number of the attempt for this event, from 1. */
  attempt: number;
  status?: number;
  durationMs: number;
  outcome: "delivered" | "retry" | "givenUp";
  error?: string;
  /** Kept for the newest failed attempts. */
  answer?: AnswerText;
}

/** The attempt of a test notification. */
export type TestResult = Omit<Attempt, "outcome"> & { outcome: "delivered" | "failed" };

/** Whether the signature of a request is right. */
export interface Checked {
  isRight: boolean;
  /** What is wrong, or why a receiver would refuse a right signature. */
  reason?: string;
  /** How many bytes at the beginning of the body are as they were sent. */
  sameBytes?: number;
}

/** The state of a webhook's notifications. */
export interface Deliveries {
  health: Health;
  failingSince: number | null;
  deliveredGeneration: number;
  nextAttemptAt: number | null;
  lastError: string | null;
  /** Oldest first. */
  attempts: Attempt[];
  deadLetters: DeadLetter[];
}

/** A webhook with the state of its notifications. */
export interface Webhook {
  config: WebhookConfig;
  deliveries: Deliveries;
}

/** The data of a registration; members without a value are left out. */
export interface NewWebhook {
  url: string;
  id?: string;
  token?: string;
  events?: string;
  authentication?: { scheme: string; credentials?: string };
  signingSecret?: string;
}

const WEBHOOKS = "urn:a2a-edge:webhooks:v1";
const GENERATION = "urn:a2a-edge:generation:v1";

const extended = { "a2a-extensions": WEBHOOKS };
const configsOf = (agent: string, task: string) => `/${agent}/tasks/${encodeURIComponent(task)}/pushNotificationConfigs`;
// The path of a webhook. A colon after it introduces an action.
const pathOf = (agent: string, task: string, id: string) => `${configsOf(agent, task)}/${encodeURIComponent(id)}`;
const asOperator = () => ({ "act-as": actAs() });

/** A page of an agent's webhooks in trouble. @throws {Problem} */
export function troubled(
  agent: string,
  { trouble, owner, pageToken, isQuiet, signal }: { trouble?: string; owner?: string; pageToken?: string; isQuiet: boolean; signal?: AbortSignal },
): Promise<{ webhooks: TroubledWebhook[]; nextPageToken: string }> {
  const query = { pageSize: 50, state: trouble, pageToken };
  return json({ agent, path: `/${agent}/webhooks`, query, headers: { "act-as": actAs(owner) }, isQuiet, signal });
}

/** The webhooks of a task, in the order of registration. @throws {Problem} */
export async function webhooksOf(agent: string, task: string, signal?: AbortSignal): Promise<Webhook[]> {
  const headers = { ...extended, ...asOperator() };
  const { configs } = await json<{ configs?: WebhookConfig[] }>({ agent, path: configsOf(agent, task), headers, signal });
  return Promise.all(
    (configs ?? []).map(async (config) => {
      const path = `${pathOf(agent, task, config.id)}/deliveries`;
      return { config, deliveries: await json<Deliveries>({ agent, path, headers, signal }) };
    }),
  );
}

/** The generation of the newest event of a task. @throws {Problem} */
export async function newestGeneration(agent: string, task: string): Promise<number> {
  const path = `/${agent}/tasks/${encodeURIComponent(task)}`;
  const headers = { "a2a-extensions": GENERATION, ...asOperator() };
  const { metadata } = await json<Task>({ agent, path, query: { historyLength: 0 }, headers });
  return Number(metadata?.[`${GENERATION}/generation`] ?? 1);
}

/** Sends the events from a generation on again. @throws {Problem} */
export async function sendAgain(agent: string, task: string, id: string, fromGeneration: number): Promise<void> {
  await json({ agent, path: `${pathOf(agent, task, id)}:redeliver`, headers: asOperator(), body: { fromGeneration } });
}

/** Sends a test notification at once. @throws {Problem} */
export function sendTest(agent: string, task: string, id: string): Promise<TestResult> {
  return json({ agent, path: `${pathOf(agent, task, id)}:test`, headers: asOperator(), body: {} });
}

/** Asks whether the signature of a request, which the receiver has got, is right. @throws {Problem} */
export function verifySignature(agent: string, task: string, id: string, body: { headers: Record<string, string>; body: string }): Promise<Checked> {
  return json({ agent, path: `${pathOf(agent, task, id)}:verify`, headers: asOperator(), body });
}

/** The event of a generation, as a stream of the task repeats it; undefined if there is no such event. @throws {Problem} */
export async function eventOf(agent: string, task: string, generation: number, signal: AbortSignal): Promise<StreamResponse | undefined> {
  const options = { signal, lastEventId: String(generation - 1), headers: asOperator() };
  for await (const { id, response } of localEndpoint(agent).stream("SubscribeToTask", { id: task }, options)) return id === String(generation) ? response : undefined;
  return undefined;
}

/** Registers a webhook; returns the webhook with its secrets, which no other answer contains. @throws {Problem} */
export function register(agent: string, task: string, webhook: NewWebhook): Promise<WebhookConfig> {
  return json({ agent, path: configsOf(agent, task), headers: extended, body: webhook });
}

/** Deletes a webhook. @throws {Problem} */
export async function remove(agent: string, task: string, id: string): Promise<void> {
  await json({ agent, path: pathOf(agent, task, id), method: "DELETE" });
}
