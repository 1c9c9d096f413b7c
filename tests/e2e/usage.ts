// The usage of an agent, with helpers for its specs.
import assert from "node:assert/strict";
import type { Database, Worker } from "./harness.ts";

/** The usage of a day, by an owner if the answer is that of all owners. */
export interface Day {
  day: string;
  owner?: string;
  turns: number;
  requests: number;
  inputTokens: number;
  outputTokens: number;
  costMicros: number;
  models: (Omit<Day, "day" | "owner" | "models"> & { model: string })[];
}

export interface UsageOfAgent {
  agent: string;
  currency?: string;
  limits?: { tokensPerDay?: number; costMicrosPerDay?: number; resetsAt: string };
  from: string;
  to: string;
  days: Day[];
  isAtLeast: boolean;
  before?: string;
}

export const DAY_MS = 86_400_000;

/** The day (UTC) this number of days ago. */
export const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** Waits for the next day where this one is nearly over: a test must not run across midnight. */
export async function beforeMidnight(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < 20_000) await new Promise((resolve) => setTimeout(resolve, left));
}

/** The answer of `GET /<agent>/usage`. */
export async function usageAt({ url }: Worker, slug: string, query = "", headers: Record<string, string> = {}): Promise<UsageOfAgent> {
  const response = await fetch(`${url}/${slug}/usage${query}`, { headers });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.equal(response.headers.get("cache-control"), "no-store");
  return JSON.parse(text) as UsageOfAgent;
}

/** The agents of a variable `AGENTS`, some of them with a table `[quota]`. */
export function withQuotas(agents: string, quotas: Record<string, object>): string {
  const embedded = JSON.parse(agents) as { agents: { slug: string }[] };
  return JSON.stringify({ ...embedded, agents: embedded.agents.map((agent) => ({ ...agent, ...(quotas[agent.slug] && { quota: quotas[agent.slug] }) })) });
}

/** The numbers of `turns` turns, each of a request, 20 and 3 tokens and a cost of 4. */
export const countsOf = (turns: number): Omit<Day, "day" | "owner" | "models"> => ({ turns, requests: turns, inputTokens: 20 * turns, outputTokens: 3 * turns, costMicros: 4 * turns });

/** Adds the sum of a day and an owner with an agent, of these numbers; some of the turns may be of models. */
export async function addSum(database: Database, day: string, owner: string, slug: string, turns = 1, models: Record<string, number> = {}): Promise<void> {
  const parts = Object.fromEntries(Object.entries(models).map(([model, turns]) => [model, [turns, 20 * turns, 3 * turns, 4 * turns, turns]]));
  await database.prepare("INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?4, 20 * ?4, 3 * ?4, 4 * ?4, ?5)").bind(day, owner, slug, turns, JSON.stringify(parts)).run();
}
