// Runs one test (ACTS §3 to §10): its steps in order, each with what it expects, until one fails.
import { setTimeout as pause } from "node:timers/promises";
import { check, checkCollection, valueAt, type Unmet } from "./assertions.ts";
import { Unread } from "./client.ts";
import { type ClientStep, type NamedAssertion, type RawStep, type ServerStep, type Step, type Test } from "./document.ts";
import { attemptsOf, holds, pauseMs } from "./repeat.ts";
import { checkStream } from "./streams.ts";
import type { Answer, Reading, Transport } from "./transport.ts";
import { Unresolved, resolve, type Scope } from "./variables.ts";
import { OPERATIONS, withOwnNames } from "./wire.ts";

/** What became of a test or a step. */
export type Result = "pass" | "fail" | "skip" | "error";

/** Why a test failed (ACTS §13.3). */
export interface Failure {
  message: string;
  step_id?: string;
  expected?: string;
  actual?: string;
  assertion_path?: string;
}

export interface Outcome {
  result: Result;
  failure?: Failure;
  steps: { id: string; result: Result; duration_ms: number }[];
}

/** What a test is run with. */
export interface Context {
  transport: Transport;
  given: Record<string, string>;
  variables: Record<string, string>;
  /** Gives what our client makes of a response (ACTS §10). */
  parse(operation: string, payload: unknown): Promise<unknown>;
  /** A further check, for a test whose description requires more than its steps can check (checks.ts). */
  check?(answers: Map<string, Answer>, scope: Scope): Promise<string | undefined>;
}

/** Runs a test. */
export async function runTest(test: Test, context: Context): Promise<Outcome> {
  const scope: Scope = { steps: new Map(), given: context.given, variables: context.variables };
  const answers = new Map<string, Answer>();
  const steps: Outcome["steps"] = [];
  const end = (result: Result, failure?: Failure): Outcome => ({ result, steps, ...(failure && { failure }) });
  for (const step of test.steps) {
    const begun = Date.now();
    const failure = await attempt(() => runStep(step, context, scope, answers));
    const result = failure === undefined ? "pass" : failure.isOfRunner ? "error" : "fail";
    steps.push({ id: step.id, result, duration_ms: Date.now() - begun });
    if (failure !== undefined) return end(result, { step_id: step.id, ...failure.failure });
  }
  const last = await attempt(async () => {
    const unmet = assertAll(test.assertions, scope);
    if (unmet !== undefined) return unmet;
    const said = await context.check?.(answers, scope);
    return said === undefined ? undefined : { message: said };
  });
  return last === undefined ? end("pass") : end(last.isOfRunner ? "error" : "fail", last.failure);
}

/** An unmet expectation is the agent's; what was thrown is the runner's: the agent was not reached, or the test names nothing that there is. */
async function attempt(act: () => Promise<Failure | undefined>): Promise<{ failure: Failure; isOfRunner: boolean } | undefined> {
  try {
    const failure = await act();
    return failure && { failure, isOfRunner: false };
  } catch (error) {
    // An unresolved variable fails its step (ACTS §12.2), as does a response that our client cannot read.
    const message = error instanceof Error ? error.message : String(error);
    return { failure: { message }, isOfRunner: !(error instanceof Unresolved || error instanceof Unread) };
  }
}

async function runStep(step: Step, context: Context, scope: Scope, answers: Map<string, Answer>): Promise<Failure | undefined> {
  if ("assertion" in step) return assertAll([step.assertion], scope);
  if ("client_response" in step) return runClientStep(step, context, scope);
  await pause(step.delay_ms ?? 0);
  const { repeat } = step;
  for (let attempt = 1; ; attempt += 1) {
    const answer = await ask(step, context.transport, scope);
    answers.set(step.id, answer);
    const response = "raw" in step ? answer.raw : answer.root;
    const failure = judge(step, answer, response, scope);
    if (failure !== undefined) return failure;
    capture(step, response, scope);
    if (repeat === undefined || holds(repeat.until, response)) return assertAll(step.assertions, scope);
    if (attempt >= attemptsOf(repeat)) return { message: `after ${attempt} attempts it does not hold: ${repeat.until}`, expected: repeat.until };
    await pause(pauseMs(repeat, attempt));
  }
}

async function runClientStep({ id, client_response: { operation, wire_payload: payload }, expect_parsed, assertions }: ClientStep, context: Context, scope: Scope): Promise<Failure | undefined> {
  const parsed = await context.parse(operation, resolve(payload, scope));
  scope.steps.set(id, { response: parsed });
  return told(check(parsed, resolve(expect_parsed, scope))) ?? assertAll(assertions, scope);
}

function ask(step: ServerStep | RawStep, transport: Transport, scope: Scope): Promise<Answer> {
  const reading = readingOf(step);
  if ("raw" in step) return transport.raw(resolve(step.raw, scope) as RawStep["raw"], reading);
  return transport.call(step.operation, resolve(step.params ?? {}, scope) as Record<string, unknown>, reading);
}

/** No stream is read for ever, also where the test sets no time. */
function readingOf({ expect_stream: stream }: ServerStep | RawStep): Reading {
  return { timeoutMs: stream?.timeout_ms ?? 30_000, maxCount: stream?.max_count ?? Infinity };
}

function judge(step: ServerStep | RawStep, answer: Answer, response: unknown, scope: Scope): Failure | undefined {
  const of = <Value>(value: Value): Value => resolve(value, scope) as Value;
  const [expect, error, stream] = [of(step.expect), of(step.expect_error), of(step.expect_stream)];
  if (error !== undefined) {
    if (answer.error === undefined) return { message: "an error was expected", expected: JSON.stringify(error), actual: said(answer) };
    const { error_type: type, ...others } = error;
    return told(checkMembers(answer.error, { type: withOwnNames(type), ...others }));
  }
  const status = check(answer.status, expect?.status ?? ("raw" in step && expect === undefined ? { gte: 100 } : 200), "status");
  if (status !== undefined) return told(status, said(answer));
  // An error of JSON-RPC has the status of a success.
  if (!("raw" in step) && answer.error !== undefined) return { message: `an error was answered: ${answer.error.type}`, actual: said(answer) };
  if (expect?.body !== undefined) {
    const body = check(response, expect.body);
    if (body !== undefined) return told(body);
  }
  const isStream = stream !== undefined || ("operation" in step && OPERATIONS[step.operation]?.streams === true);
  if (!isStream) return undefined;
  if (answer.events === undefined) return { message: "the answer is no stream", actual: said(answer) };
  return told(checkStream(answer.events, stream ?? {}, "raw" in step));
}

/** The first member that does not fit. */
function checkMembers(actual: object, wanted: Record<string, unknown>): Unmet | undefined {
  const members = Object.entries(wanted).filter(([, assertion]) => assertion !== undefined);
  return members.map(([name, assertion]) => check((actual as Record<string, unknown>)[name], assertion, name)).find((unmet) => unmet !== undefined);
}

function capture({ id, capture: wanted = {} }: ServerStep | RawStep, response: unknown, scope: Scope): void {
  const captured = Object.entries(wanted).map(([name, path]) => [name, valueAt(response, path)]);
  scope.steps.set(id, { ...Object.fromEntries(captured), response });
}

function assertAll(assertions: NamedAssertion[] = [], scope: Scope): Failure | undefined {
  for (const { source, path, match, ...collections } of assertions) {
    const whole = resolve(source, scope);
    const value = path === undefined ? whole : valueAt(whole, path);
    if (match !== undefined) {
      const unmet = check(value, resolve(match, scope), path ?? "");
      if (unmet !== undefined) return told(unmet);
    }
    for (const kind of ["any", "all", "none"] as const) {
      const wanted = collections[kind];
      const unmet = wanted && checkCollection(value, kind, resolve(wanted, scope) as typeof wanted);
      if (unmet !== undefined) return told(unmet);
    }
  }
  return undefined;
}

function told(unmet: Unmet | undefined, more = ""): Failure | undefined {
  if (unmet === undefined) return undefined;
  const { path, expected, actual } = unmet;
  return { message: `${path === "" ? "the response" : path} is ${actual}, expected ${expected}${more && `: ${more}`}`, expected, actual, assertion_path: path };
}

const said = ({ status, raw, events }: Answer): string => `${status} ${events === undefined ? (JSON.stringify(raw) ?? "") : `${events.length} events`}`.slice(0, 400);
