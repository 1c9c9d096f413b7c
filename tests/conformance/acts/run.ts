// Runs all tests of a suite against the agents of behaviors.ts, over one binding.
import type { Sink } from "../../e2e/sink.ts";
import { behaviors, bearer, CONFIGURATIONS, TOKENS, type Configuration } from "./behaviors.ts";
import { CHECKS, NEEDS_CALLERS } from "./checks.ts";
import { CORRECTIONS, corrected, type Correction } from "./corrections.ts";
import { isMap, type Members, type Test } from "./document.ts";
import type { Loaded } from "./load.ts";
import { unmetPrecondition } from "./preconditions.ts";
import type { Schema } from "./proto.ts";
import { runTest, type Failure, type Outcome, type Result } from "./runner.ts";
import { Transport } from "./transport.ts";

/** What became of a test, over one binding. */
export interface TestRun {
  suite: string;
  test: Test;
  result: Result;
  duration_ms: number;
  skip_reason?: string;
  failure?: Failure;
  steps: Outcome["steps"];
  /** The agent that it was run against. */
  configuration?: string;
  /** How the test wants something else than A2A 1.0.1, and what became of it as corrected. */
  deviation?: { correction: Correction; result: Result; failure?: Failure };
}

/** What all tests of a run share. */
export interface Bench {
  /** The origin of the Worker. */
  origin: string;
  binding: "jsonrpc" | "rest";
  sink: Sink;
  /** The messages of a2a.proto. */
  schema: Schema;
  /** Gives what our client makes of a response. */
  parse(operation: string, payload: unknown): Promise<unknown>;
}

/** What the runner can do (ACTS §3.2). */
const ABLE = ["webhook_endpoint", "concurrent_streams", "stream_disconnect", "auth_credentials", "header_inspection"];

/** Runs those tests of a suite that are wanted, in its order. */
export async function runSuite({ documents, invalid }: Loaded, bench: Bench, isWanted: (test: Test) => boolean): Promise<TestRun[]> {
  const runs: TestRun[] = [];
  const cards = await Promise.all(CONFIGURATIONS.map(async (configuration) => ({ configuration, card: await cardOf(bench, configuration) })));
  const otherUserTaskId = await taskOfAnother(bench);
  for (const { suites, variables, specVersion } of documents) {
    const place = { ...bench, cards, otherUserTaskId, variables, specVersion };
    for (const { id: suite, tests } of suites) {
      for (const test of tests.filter(isWanted)) {
        const begun = Date.now();
        const problems = invalid.get(test.id);
        const run = problems === undefined ? await runOne(test, place) : { result: "error" as const, failure: { message: problems.join("; ") }, steps: [] };
        const duration_ms = Date.now() - begun;
        const correction = run.result === "skip" ? undefined : CORRECTIONS.find((one) => one.test === test.id);
        const again = correction && (await runOne(corrected(test, correction), place));
        const deviation = correction && again && { correction, result: again.result, ...(again.failure && { failure: again.failure }) };
        runs.push({ suite, test, duration_ms, ...run, ...(deviation && { deviation }) });
      }
    }
  }
  return runs;
}

interface Place extends Bench {
  cards: { configuration: Configuration; card: Members }[];
  otherUserTaskId: string;
  variables: Record<string, string>;
  specVersion: string;
}

/** Runs one test against the first agent that meets its preconditions. */
async function runOne(test: Test, place: Place): Promise<Omit<TestRun, "suite" | "test" | "duration_ms" | "deviation">> {
  const skip = (skip_reason: string) => ({ result: "skip" as const, skip_reason, steps: [] });
  const unable = test.runner_requirements?.find((name) => !ABLE.includes(name));
  if (unable !== undefined) return skip(`the runner has no ${unable}`);
  const reasons = place.cards.map(({ card }) => unmetPrecondition(test, card, place.binding));
  const isMeant = (at: number): boolean => reasons[at] === undefined && (!NEEDS_CALLERS.includes(test.id) || "securitySchemes" in (place.cards[at]?.card ?? {}));
  const at = reasons.findIndex((_, at) => isMeant(at));
  const { configuration } = place.cards[at] ?? {};
  if (configuration === undefined) return skip(reasons[0] ?? "no agent meets its preconditions");
  const unknown = test.requires_behaviors?.find((prefix) => !behaviors.includes(prefix));
  if (unknown !== undefined) return { result: "fail", failure: { message: `the agent has no behavior ${unknown}` }, steps: [] };

  const transport = transportOf(place, configuration, place.specVersion);
  const hook = `/${test.id}-${place.binding}-${hooks++}`;
  const given = {
    SUT_BASE_URL: transport.base, baseUrl: transport.base, webhookUrl: `${place.sink.url}${hook}`,
    insufficientAuthToken: TOKENS.ACTS_LACKING_TOKEN, otherUserTaskId: place.otherUserTaskId,
  };
  const check = CHECKS[test.id];
  const checked = { transport, nobody: transport.with({}), other: transport.with(bearer(TOKENS.ACTS_OTHER_TOKEN)), sink: place.sink, schema: place.schema, hook };
  const outcome = await runTest(test, {
    transport, given, variables: place.variables, parse: place.parse,
    ...(check && { check: async (answers) => check({ ...checked, answers }) }),
  });
  return { ...outcome, configuration: configuration.slug };
}

let hooks = 0;

function transportOf({ origin, binding }: Bench, { slug, headers }: Configuration, version: string): Transport {
  return new Transport(`${origin}/${slug}`, binding, version, headers);
}

async function cardOf(bench: Bench, configuration: Configuration): Promise<Members> {
  const { root } = await transportOf(bench, configuration, "1.0").call("get_agent_card", {});
  if (!isMap(root)) throw new Error(`the agent ${configuration.slug} has no card`);
  return root;
}

/** A task that belongs to another caller of the agent with credentials. */
async function taskOfAnother({ origin, binding }: Bench): Promise<string> {
  const transport = new Transport(`${origin}/acts-guarded`, binding, "1.0", bearer(TOKENS.ACTS_OTHER_TOKEN));
  const { root, raw } = await transport.call("send_message", { message: { role: "ROLE_USER", parts: [{ text: "tck-complete-task" }] } });
  const task = isMap(root) ? root["task"] : undefined;
  if (!isMap(task)) throw new Error(`no task of another caller could be made: ${JSON.stringify(raw)}`);
  return String(task["id"]);
}
