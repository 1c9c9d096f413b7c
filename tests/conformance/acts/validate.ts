// Whether a test has the form that ACTS gives it (§2 to §10, appendix A). Four readings are wider than its grammar, because the suite
// itself writes so: `expect_error` without a type is any error, a type may be an assertion, raw steps may expect a stream, and assertions
// have the operator `items` (assertions.ts).
import { isMap, type Members } from "./document.ts";
import { ERROR_TYPES, OPERATIONS } from "./wire.ts";

/** What is wrong with a test, each with where it stands; empty if it can be run. */
export function problemsOf(test: unknown): string[] {
  if (!isMap(test)) return ["a test must be a map"];
  const problems: string[] = [];
  const wrong = (where: string, what: string): void => void problems.push(`${where} ${what}`);
  known("the test", test, TEST, wrong);
  for (const name of ["id", "name"]) if (typeof test[name] !== "string") wrong(name, "must be a text");
  if (!["must", "should", "may"].includes(String(test["level"]))) wrong("level", "must be must, should or may");
  const steps = Array.isArray(test["steps"]) ? test["steps"] : [];
  if (steps.length === 0) wrong("steps", "must be a list with one step at least");
  const ids = steps.map((step) => (isMap(step) ? step["id"] : undefined));
  steps.forEach((step, at) => {
    const where = `steps[${at}]`;
    if (!isMap(step)) return wrong(where, "must be a map");
    if (typeof step["id"] !== "string" || ids.indexOf(step["id"]) !== at) wrong(where, "must have an id of its own");
    stepOf(where, step, wrong);
  });
  const hasRawOnly = steps.length > 0 && steps.every((step) => isMap(step) && "raw" in step);
  if (hasRawOnly && !Array.isArray(test["transport"])) wrong("transport", "is needed by a test of raw steps only (ACTS §4.4)");
  return problems;
}

type Wrong = (where: string, what: string) => void;

function stepOf(where: string, step: Members, wrong: Wrong): void {
  const kinds = ["operation", "raw", "client_response", "assertion"].filter((kind) => kind in step);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) return wrong(where, "must have exactly one of operation, raw, client_response and assertion");
  known(where, step, [...(STEPS[kind] ?? []), kind, "id", "description", "assertions"], wrong);
  if (kind === "operation" && !(String(step["operation"]) in OPERATIONS)) wrong(where, `has an unknown operation ${JSON.stringify(step["operation"])}`);
  if (kind === "raw") known(`${where}.raw`, step["raw"], ["method", "path", "headers", "body", "body_raw"], wrong);
  if (kind === "client_response") known(`${where}.client_response`, step["client_response"], ["operation", "wire_payload"], wrong);
  if (kind === "assertion") known(`${where}.assertion`, step["assertion"], NAMED, wrong);
  if ("expect" in step && "expect_error" in step) wrong(where, "cannot have both expect and expect_error");
  for (const [name, members] of Object.entries(BLOCKS)) if (name in step) known(`${where}.${name}`, step[name], members, wrong);
  const assertions = step["assertions"] ?? [];
  if (!Array.isArray(assertions)) return wrong(`${where}.assertions`, "must be a list");
  assertions.forEach((one, at) => known(`${where}.assertions[${at}]`, one, NAMED, wrong));
  const error = step["expect_error"];
  const type = isMap(error) ? error["error_type"] : undefined;
  if (typeof type === "string" && !ERROR_TYPES.includes(type)) wrong(`${where}.expect_error`, `has an unknown error_type ${JSON.stringify(type)}`);
}

function known(where: string, value: unknown, members: string[], wrong: Wrong): void {
  if (!isMap(value)) return wrong(where, "must be a map");
  for (const name of Object.keys(value)) if (!members.includes(name)) wrong(where, `has an unknown member ${JSON.stringify(name)}`);
}

const TEST = [
  "id", "name", "description", "spec_ref", "level", "tags", "transport", "preconditions", "requires_behaviors", "origin",
  "runner_requirements", "steps", "assertions",
];
const ASKING = ["expect", "expect_error", "expect_stream", "capture", "repeat", "delay_ms"];
const STEPS: Record<string, string[]> = { operation: [...ASKING, "params"], raw: ASKING, client_response: ["expect_parsed"], assertion: [] };
const NAMED = ["id", "description", "source", "path", "match", "any", "all", "none"];
const BLOCKS: Record<string, string[]> = {
  expect: ["status", "body"],
  expect_error: ["error_type", "message", "details"],
  expect_stream: ["min_count", "max_count", "timeout_ms", "ordering", "events", "final_event", "each_event"],
  repeat: ["until", "max_attempts", "delay_ms", "backoff"],
};
