// The spans of a trace and its time axis (console/src/pages/tasks/trace.ts, axis.ts).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, Head, StepEntry } from "../../console/src/api/timeline.ts";
import { axisOf } from "../../console/src/pages/tasks/axis.ts";
import { intervalsOf, sumOf, traceOf, type Span } from "../../console/src/pages/tasks/trace.ts";

const head = (more: Partial<Head> = {}): Head => ({ taskId: "t", contextId: "c", state: "TASK_STATE_COMPLETED", statusAt: 900, createdAt: 0, agent: "a", generation: 9, underWay: [], ...more });
const run = (at: number, attempt = 1, resumes = false, message = 1): Entry => ({ kind: "run", at, generation: null, attempt, resumes, message, begunAt: at, timeoutMs: 1000 });
const step = (name: string, at: number, durationMs: number, more: Partial<StepEntry> = {}): Entry => ({ kind: "step", at, generation: null, name, nth: 1, type: "step", failed: false, bytes: 2, durationMs, ...more });
const model = (nth: number, at: number, durationMs: number): Entry => step("model", at, durationMs, { type: "model", nth, usage: { requests: 1, inputTokens: 2, outputTokens: 3, costMicros: 4 } });
const said = (text: string): Entry => ({ kind: "message", at: 500, generation: null, message: { messageId: text, role: "ROLE_USER", parts: [{ type: "text", bytes: 1, text }] } });
const opened: Entry = { kind: "task", at: 0, generation: 1, state: "TASK_STATE_SUBMITTED", message: { messageId: "first", role: "ROLE_USER", parts: [] } };

/** The names of spans, indented by their depth. */
const outline = (spans: readonly Span[], depth = 0): string[] => spans.flatMap((span) => [`${" ".repeat(depth)}${span.kind} ${span.name}`, ...outline(span.children, depth + 1)]);

test("what belongs to a call is below it, though it is stored before, and calls are below the request that made them", () => {
  const entries = [
    opened, run(10), model(1, 100, 80),
    step("agent 1.2 rail", 130, 20, { type: "agent", agent: "rail", task: { agent: "rail", id: "x" } }),
    step("1.1/reserve", 150, 30, { of: "1.1" }),
    step("1.1", 200, 95, { type: "tool", tool: "seat", failed: true }), step("1.2", 300, 195, { type: "tool", tool: "rail" }),
    model(2, 400, 90),
  ];
  const turns = traceOf(head(), entries, 1000);
  assert.deepEqual(outline(turns), ["turn Message 1", " model request 1", "  tool seat", "   step reserve", "  tool rail", "   agent rail", " model request 2"]);
  const [first] = turns[0]!.children;
  assert.deepEqual(first!.children.map(({ from, until }) => [from, until]), [[105, 200], [105, 300]]);
  assert.deepEqual(first!.children[1]!.children.map(({ from, until }) => [from, until]), [[110, 300]], "the other task lasts as long as its call");
  const { requests, calls, failed, usage } = sumOf(turns);
  assert.deepEqual([requests, calls, failed, usage.costMicros], [2, 2, 1, 8]);
});

test("a turn has its attempts and waits, and a run that begins anew has steps of its own", () => {
  const entries: Entry[] = [
    opened, run(10), model(1, 50, 30), run(100, 2, true), step("1.1", 150, 40, { type: "tool" }),
    { kind: "parked", at: 160, generation: null, nth: 1, until: 999, orMessage: false }, { kind: "woken", at: 460, generation: null, nth: 1, by: "time" }, run(460, 1, true),
    { kind: "status", at: 480, generation: 3, state: "TASK_STATE_INPUT_REQUIRED" },
    said("second"), { kind: "status", at: 505, generation: 4, state: "TASK_STATE_WORKING" }, run(510, 1, false, 2), step("a", 520, 5), run(600, 2, false, 2), step("a", 620, 5),
    { kind: "status", at: 640, generation: 4, state: "TASK_STATE_FAILED" },
  ];
  const turns = traceOf(head({ state: "TASK_STATE_FAILED" }), entries, 1000);
  assert.deepEqual(outline(turns), ["turn Message 1", " model request 1", "  tool call 1.1", " wait for its time", "turn Message 2", " step a", " step a"]);
  assert.deepEqual(turns.map(({ attempts }) => attempts.map(({ from, until }) => [from, until])), [[[10, 50], [100, 160], [460, 480]], [[510, 520], [600, 640]]]);
  assert.deepEqual(turns.map(({ hasFailed, message }) => [hasFailed, message?.messageId]), [[false, "first"], [true, "second"]]);
  const keys = turns.flatMap((turn) => [turn, ...turn.children, ...turn.children.flatMap(({ children }) => children)]).map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length, keys.join(", "));
});

test("what is under way lasts until now, also where earlier entries were not read", () => {
  const underWay = [{ name: "2.1", nth: 1, type: "tool" as const, since: 700 }];
  const turns = traceOf(head({ state: "TASK_STATE_WORKING", underWay }), [step("1.1", 300, 100, { type: "tool" }), model(2, 600, 50)], 1000);
  assert.deepEqual(outline(turns), ["turn Earlier", " tool call 1.1", " model request 2", "  tool call 2.1"]);
  const [open] = turns[0]!.children[1]!.children;
  assert.deepEqual([open?.isOpen, open?.from, open?.until, turns[0]?.isOpen, turns[0]?.until, turns[0]?.message], [true, 700, 1000, true, 1000, undefined]);
  assert.deepEqual(traceOf(head(), [opened], 1000), []);
});

test("long pauses are squeezed, short ones are not, and every instant has a place", () => {
  const day = 86_400_000;
  const axis = axisOf([{ from: 1000, until: 2000 }, { from: 1500, until: 3000 }, { from: 3200, until: 4000 }, { from: day, until: day + 1000 }]);
  assert.deepEqual(axis.pauses.map(({ ms }) => ms), [day - 4000]);
  assert.deepEqual([axis.at(0), axis.at(1000), axis.at(day + 1000), axis.at(9 * day)], [0, 0, 1, 1]);
  assert.ok(axis.at(4000) > 0.65 && axis.at(day) - axis.at(4000) < 0.06, String([axis.at(4000), axis.at(day)]));
  const places = [1000, 2000, 3100, 4000, day / 2, day, day + 500].map((ms) => axis.at(ms));
  assert.deepEqual(places, places.toSorted((one, other) => one - other));
  assert.deepEqual([axis.ticks[0]?.ms, axis.ticks.at(-1)?.ms], [0, day]);
  for (const intervals of [[], [{ from: 5, until: 5 }], intervalsOf(traceOf(head(), [opened, run(10)], 0))]) {
    const { at, ticks } = axisOf(intervals);
    assert.ok([at(5), ...ticks.map((tick) => tick.at)].every((place) => place >= 0 && place <= 1));
  }
});
