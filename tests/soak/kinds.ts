// The kinds of executors of a soak: their agents, and their tasks.

import type { Kind } from "../../scripts/lib/soak-kinds.mjs";
import { testAgents } from "../e2e/harness.ts";
import { CallbackSubject, MOST_BODIES } from "./callback.ts";
import { CoordinatorSubject } from "./coordinator.ts";
import { FunctionSubject } from "./functions.ts";
import { HttpSubject } from "./http.ts";
import { McpSubject } from "./mcp.ts";
import { ModelSubject } from "./model.ts";
import { RemoteSubject } from "./remote.ts";
import { ScriptSubject } from "./scripts.ts";
import type { Subject, World } from "./subject.ts";
import { ToolsSubject } from "./tools.ts";

/** A task of each kind, by its number in the soak. */
export const subjects: Record<Kind, new (world: World, number: number) => Subject> = {
  scripts: ScriptSubject, tools: ToolsSubject, model: ModelSubject, coordinator: CoordinatorSubject,
  http: HttpSubject, callback: CallbackSubject, remote: RemoteSubject, mcp: McpSubject,
  functions: FunctionSubject,
};

/** What is counted as done for a task of each kind. */
export const units: Record<Kind, string> = {
  scripts: "steps", tools: "steps and orders", model: "requests", coordinator: "requests", http: "answers", callback: "bodies", remote: "steps", mcp: "calls",
  functions: "steps",
};

/** The slugs of the agents that ask the model. */
export const THINKING = ["soak-model", "soak-coordinator"];

type Embedded = { slug: string; card: string } & Record<string, unknown>;
type Built = { agents: Embedded[]; remotes?: object[]; mcp?: object[] } & Record<string, unknown>;

/**
 * The agents of the tests and those of a soak, as the variable `AGENTS` has them: copies of `faults` with other names, cards and executors. `steps` is
 * the server that steps are posted to.
 */
export function soakAgents(steps: string): string {
  const { agents, remotes = [], mcp = [], ...built } = JSON.parse(testAgents) as Built;
  const faults = agents.find(({ slug }) => slug === "faults");
  if (faults === undefined) throw new Error("tests/agents/faults.toml is not built");
  const made = (name: string, executor: object, more: object = {}): Embedded => {
    const slug = `soak-${name}`;
    const card = JSON.parse(faults.card.replaceAll("/faults", `/${slug}`)) as object;
    const run = { timeout_ms: 900_000 };
    return { ...faults, slug, default: false, card: JSON.stringify({ ...card, name }), executor: { run, ...executor }, ...more };
  };
  const model = { model: "said-model", base_url: "${MODEL_URL}", api_key: "${MODEL_KEY}", event_interval_ms: 20, limits: { rounds: 50 } };
  const shop = {
    tools: [
      {
        name: "order", description: "Orders something, once.", arguments: { item: "What to order." }, method: "POST", url: "${SINK}/orders/{item}",
        body: { item: "{item}" }, timeout_ms: 60_000, max_bytes: 65_536, retry: 10, idempotency: "Idempotency-Key", repeatable: false,
      },
    ],
  };
  const posting = {
    name: "post", description: "Posts to the server of the soak.", arguments: { name: "Of whom.", call: "Which call.", step: "Which step." }, method: "POST",
    url: "${STEPS}/{name}/{call}/{step}", timeout_ms: 60_000, max_bytes: 65_536, retry: 1, repeatable: true,
  };
  const waits = Array.from({ length: MOST_BODIES }, (_, index) => ({
    when: { pattern: `^wait for ${index + 1} working (\\d+) (http://\\S+)$` },
    then: [
      { do: "steps", repeat: 2, url: "{2}/before", attempts: 3 },
      { do: "wait", ms: "{1}" },
      { do: "callback", id: "news", count: index + 1, minutes: 10 },
      { do: "steps", repeat: 2, url: "{2}/after", attempts: 3 },
      { do: "complete" },
    ],
  }));
  const more = [
    made("tools", { kind: "tools", table: { names: [] } }, { tools: [...shop.tools, posting] }),
    made("model", { kind: "model", table: model }, shop),
    made("near", faults.executor as object),
    made("far", faults.executor as object),
    made("coordinator", { kind: "model", table: { ...model, agents: ["soak-near", "soak-elsewhere"] } }),
    made("http", { kind: "http", table: { url: "${SINK}/turn", attempts: 10, event_interval_ms: 20 } }),
    made("callback", { kind: "script", table: { rules: waits } }),
    made("functions", { kind: "chain", table: { url: steps } }),
    made("mcp", { kind: "tools", table: { names: [], mcp: ["lender"] } }),
  ];
  const elsewhere = { name: "soak-elsewhere", table: { url: "${FAR_URL}", retry_delay_ms: 100 } };
  const lender = { name: "lender", table: { url: "${LENDER_URL}/mcp", trust_hints: true } };
  return JSON.stringify({ ...built, agents: [...agents, ...more], remotes: [...remotes, elsewhere], mcp: [...mcp, lender] });
}
