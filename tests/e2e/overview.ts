// The overview of an agent, with helpers for its specs.
import assert from "node:assert/strict";
import { testAgents, type Worker } from "./harness.ts";
import { only } from "./mcp.ts";

export interface Durations { totalMs: number; buckets: number[] }

export interface Hour {
  from: number;
  states: { completed: number; failed: number; canceled: number; rejected: number };
  withFailedSteps: number;
  durations: Partial<Record<"completed" | "failed" | "canceled" | "rejected", Durations>>;
}

export interface Overview {
  agent: string;
  now: number;
  hours: Hour[];
  bucketsMs: number[];
  unfinished: { submitted: number; working: number; inputRequired: number; authRequired: number; isAtLeast: boolean };
  webhooks: { failing: number; suspended: number; deadLetters: number; isAtLeast: boolean };
  counting: boolean;
}

export const HOUR_MS = 3_600_000;

/** The beginning of the hour of an instant. */
export const hourOf = (at: number): number => at - (at % HOUR_MS);

/** The keys of an operator and of an ordinary caller. */
export const SECRETS = { KEY_OPS: "ops-key-0123456789-abcdefghijklmn", KEY_BOB: "bob-key-0123456789-abcdefghijklmn" };

/** The headers of the operator. */
export const OPERATOR = { "x-api-key": SECRETS.KEY_OPS, "act-as": "operator" };

const guarded = {
  schemes: {
    key: {
      kind: "api_key",
      name: "X-Api-Key",
      callers: [{ id: "ops", secrets: ["KEY_OPS"], permissions: ["operator"] }, { id: "bob", secrets: ["KEY_BOB"] }],
    },
  },
};

/** Agents like `demo`, without schemes except for `guarded`, so that each test can have its own. */
export function agents(...slugs: string[]): string {
  const open = Object.fromEntries(slugs.map((slug) => [slug, { of: "demo" }]));
  const made = JSON.parse(only({ ...open, guarded: { of: "demo", access: guarded } })) as { agents: { slug: string }[] };
  // There must be an agent at `/`.
  const { agents: built } = JSON.parse(testAgents) as { agents: { slug: string; default: boolean }[] };
  const first = built.filter((agent) => agent.default && !slugs.includes(agent.slug));
  return JSON.stringify({ ...made, agents: [...first, ...made.agents] });
}

/** The overview of an agent. */
export async function overviewOf({ url }: Worker, slug: string, query = "", headers: Record<string, string> = {}): Promise<Overview> {
  const response = await fetch(`${url}/${slug}/overview${query}`, { headers });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text) as Overview;
}

/** The number of tasks that ended in each state, over all shown hours. */
export function sums({ hours }: Overview): Hour["states"] {
  const sum = { completed: 0, failed: 0, canceled: 0, rejected: 0 };
  for (const { states } of hours) for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += states[name];
  return sum;
}
