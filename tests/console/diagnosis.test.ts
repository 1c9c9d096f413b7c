// The sentence about a task above its timeline.

import assert from "node:assert/strict";
import { test } from "node:test";
import { diagnosisOf } from "../../console/src/pages/tasks/diagnosis.ts";
import type { AttemptEntry, Entry, Head, RunEntry, StepEntry } from "../../console/src/api/timeline.ts";

const NOW = 1_800_000_000_000;
const head = (state: Head["state"], more: Partial<Head> = {}): Head => ({
  taskId: "t", contextId: "c", agent: "demo", generation: 3, underWay: [], createdAt: NOW - 5200, statusAt: NOW - 4000, state, ...more,
});
const step = (more: Partial<StepEntry> = {}): StepEntry => ({ kind: "step", at: NOW, generation: null, name: "1.1", nth: 1, type: "tool", tool: "find_invoice", failed: false, bytes: 1, ...more });
const status = (state: Head["state"], text: string): Entry => ({
  kind: "status", at: NOW, generation: 3, state, message: { messageId: "m", role: "ROLE_AGENT", parts: [{ type: "text", bytes: text.length, text }] },
});
const run = (attempt: number): RunEntry => ({ kind: "run", at: NOW, generation: null, attempt, resumes: attempt > 1, message: 1, begunAt: NOW, timeoutMs: 1 });
const hook = (outcome: string, more: Partial<AttemptEntry> = {}): AttemptEntry => ({
  kind: "webhookAttempt", at: NOW, generation: 2, webhook: "w", origin: "https://hooks.example", attempt: 1, durationMs: 3, outcome, ...more,
});
const sentence = (of: Head, entries: Entry[] = []): string => diagnosisOf(of, entries, NOW).sentence;

test("a completed task says how long it took, and which steps failed", () => {
  assert.equal(sentence(head("TASK_STATE_COMPLETED"), [step()]), "Completed after 1.2 s.");
  const bad = step({ failed: true, error: "answered 500" });
  const part = step({ type: "step", name: "1.1/request", of: "1.1", failed: true });
  const found = diagnosisOf(head("TASK_STATE_COMPLETED", { failedSteps: 1 }), [step({ tool: "other" }), part, bad], NOW);
  assert.equal(found.sentence, "Completed after 1.2 s, but 1 of 2 calls failed: find_invoice (answered 500).");
  assert.deepEqual([found.tone, found.entry], ["wait", bad]);
  assert.equal(sentence(head("TASK_STATE_COMPLETED", { failedSteps: 3 }), [bad]), "Completed after 1.2 s, but 3 calls failed: find_invoice (answered 500).", "earlier entries were not read");
  assert.equal(sentence(head("TASK_STATE_COMPLETED", { failedSteps: 2 })), "Completed after 1.2 s, but 2 steps failed.");
  const mixed = [step({ failed: true }), step({ type: "step", name: "save", failed: true })];
  assert.equal(sentence(head("TASK_STATE_COMPLETED", { failedSteps: 2 }), mixed), "Completed after 1.2 s, but 2 steps failed: the step save.");
});

test("a failed task says why, in which attempt, and where", () => {
  const failed = step({ type: "step", name: "reserve", failed: true });
  const entries = [run(1), run(2), failed, status("TASK_STATE_FAILED", "no seat")];
  const found = diagnosisOf(head("TASK_STATE_FAILED"), entries, NOW);
  assert.equal(found.sentence, "Failed after 1.2 s in attempt 2: no seat. The last step that failed was the step reserve.");
  assert.deepEqual([found.tone, found.entry], ["bad", failed]);
  assert.equal(sentence(head("TASK_STATE_REJECTED"), [status("TASK_STATE_REJECTED", "Not mine!")]), "Rejected after 1.2 s: Not mine!");
});

test("a task that waits says for what", () => {
  assert.match(sentence(head("TASK_STATE_INPUT_REQUIRED"), [status("TASK_STATE_INPUT_REQUIRED", "Which colour?")]), /^Waits for an answer since 4 seconds ago: Which colour\?$/);
  const parked: Entry = { kind: "parked", at: NOW, generation: null, nth: 1, until: NOW + 7_200_000, orMessage: false, callback: { name: "paid", nth: 1 } };
  assert.equal(sentence(head("TASK_STATE_WORKING"), [run(1), parked]), "Waits outside of memory for the callback paid, in 2 hours at the latest.");
});

test("a task at work says at what, longest first", () => {
  const underWay = [{ name: "1.2", nth: 1, type: "tool" as const, since: NOW - 1000 }, { name: "model", nth: 2, type: "model" as const, since: NOW - 3000 }];
  assert.equal(sentence(head("TASK_STATE_WORKING", { underWay })), "At work: request 2 to the model and 1 more, since 3.0 s.");
  assert.equal(sentence(head("TASK_STATE_WORKING"), [run(3)]), "At work, in attempt 3.");
  assert.equal(sentence(head("TASK_STATE_SUBMITTED")), "Submitted; its agent has not begun yet.");
});

test("notifications that were given up are part of it, and those that came later are not", () => {
  const given = hook("givenUp", { status: 410 });
  const found = diagnosisOf(head("TASK_STATE_COMPLETED"), [hook("retry", { generation: 1 }), hook("delivered", { generation: 1 }), given], NOW);
  assert.equal(found.sentence, "Completed after 1.2 s. A notification was not delivered: https://hooks.example answered 410.");
  assert.deepEqual([found.tone, found.entry], ["wait", given]);
});

test("what agents say is cut, on one line", () => {
  const long = sentence(head("TASK_STATE_FAILED"), [status("TASK_STATE_FAILED", `a\nb ${"x".repeat(900)}`)]);
  assert.ok(long.length < 260 && long.includes(": a b xxx") && long.endsWith("…"), long);
});
