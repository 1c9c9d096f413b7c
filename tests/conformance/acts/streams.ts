// What is expected of streams (ACTS §7).
import { check, type Unmet } from "./assertions.ts";
import { isMap, type ExpectStream, type Members } from "./document.ts";
import type { Event } from "./transport.ts";

/** Checks the events of a stream. Over raw steps they are as they came, else those of A2A. */
export function checkStream(events: Event[], expected: ExpectStream, isRaw = false): Unmet | undefined {
  const seen = events.map(({ raw, root }) => (isRaw ? raw : viewOf(root)));
  const { min_count: min = 0, max_count: max = Infinity } = expected;
  if (seen.length < min) return { path: "events", expected: `${min} at least`, actual: `${seen.length}` };
  if (seen.length > max) return { path: "events", expected: `${max} at most`, actual: `${seen.length}` };
  const failures = [
    expected.ordering === "monotonic_state" ? checkOrder(seen.map(stateOf)) : undefined,
    ...seen.map((event, at) => (expected.each_event ? check(event, expected.each_event, `events[${at}]`) : undefined)),
    ...(expected.events ?? []).map((wanted, at) => checkEvent(seen, wanted, at)),
    expected.final_event ? check(seen.at(-1), expected.final_event, "final_event") : undefined,
  ];
  return failures.find((failed) => failed !== undefined);
}

function checkEvent(seen: unknown[], { description: _, match, index, ...wanted }: Members, at: number): Unmet | undefined {
  if (match === "any_position" && index === undefined) {
    const isThere = seen.some((event) => check(event, wanted) === undefined);
    return isThere ? undefined : { path: `events[any]`, expected: JSON.stringify(wanted), actual: `none of ${seen.length}` };
  }
  const place = typeof index === "number" ? index : at;
  return check(seen[place], wanted, `events[${place}]`);
}

/** An event with the names that tests have for it: those of A2A, in snake case as in ACTS §7, and the members of what it holds. */
export function viewOf(event: unknown): Members {
  if (!isMap(event)) return {};
  const { statusUpdate, artifactUpdate, task } = event;
  const held = [task, statusUpdate, artifactUpdate].find(isMap) ?? {};
  const named = { ...(statusUpdate !== undefined && { status_update: statusUpdate }), ...(artifactUpdate !== undefined && { artifact_update: artifactUpdate }) };
  return { ...held, ...named, ...event };
}

/** The first illegal change of state (ACTS §7.1). Events without a state change none. */
export function checkOrder(states: (string | undefined)[]): Unmet | undefined {
  const told = states.filter((state) => state !== undefined);
  const at = told.findIndex((state, at) => at > 0 && told[at - 1] !== state && (state === "TASK_STATE_SUBMITTED" || TERMINAL.includes(told[at - 1] ?? "")));
  return at < 0 ? undefined : { path: `events`, expected: "states that never go back", actual: `${told[at - 1]}, then ${told[at]}` };
}

/** The state that an event tells; undefined if it tells none. */
export function stateOf(event: unknown): string | undefined {
  const { status } = viewOf(event);
  return isMap(status) ? String(status["state"]) : undefined;
}

export const TERMINAL = ["COMPLETED", "FAILED", "CANCELED", "REJECTED"].map((name) => `TASK_STATE_${name}`);
