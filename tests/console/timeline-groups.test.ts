// Entries of a timeline as the console groups them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ArtifactEntry, Entry, RunEntry, StepEntry } from "../../console/src/api/timeline.ts";
import { alike, bytesText, groupsOf } from "../../console/src/pages/tasks/groups.ts";

const run = (at: number, attempt: number): RunEntry => ({ kind: "run", at, generation: null, attempt, resumes: attempt > 1, message: 1, begunAt: 0, timeoutMs: 1 });
const chunk = (artifactId: string, text: string, append: boolean, more: Partial<ArtifactEntry> = {}): ArtifactEntry => ({
  kind: "artifact", at: 5, generation: 2, artifactId, append, lastChunk: false, parts: [{ type: "text", bytes: text.length, text }], ...more,
});
const step = (at: number, durationMs: number): StepEntry => ({ kind: "step", at, generation: null, name: "s", nth: 1, type: "step", failed: false, bytes: 1, durationMs });
const status = (at: number): Entry => ({ kind: "status", at, generation: 1, state: "TASK_STATE_WORKING" });

test("what came before the first run stands alone, and each run begins a group", () => {
  const groups = groupsOf([status(0), run(10, 1), step(30, 20), run(50, 2), step(90, 5), status(95)]);
  assert.deepEqual(groups.map(({ run, items }) => [run?.attempt, items.length]), [[undefined, 1], [1, 1], [2, 2]]);
  assert.deepEqual(groups.map(({ durationMs }) => durationMs), [undefined, 20, 45]);
  assert.deepEqual(groups.map(({ longestMs }) => longestMs), [0, 20, 5]);
  assert.equal(new Set(groups.map(({ key }) => key)).size, 3);
});

test("attempts at webhooks and messages are no work of a run", () => {
  const attempt: Entry = { kind: "webhookAttempt", at: 9000, generation: 1, webhook: "w", origin: "o", attempt: 1, durationMs: 1, outcome: "delivered" };
  const [group] = groupsOf([run(10, 1), attempt, step(30, 20), attempt]);
  assert.deepEqual([group?.durationMs, group?.items.length, group?.attempts.length], [20, 1, 2]);
});

test("chunks of an artifact that follow each other are one item", () => {
  const [group] = groupsOf([chunk("a", "one ", false, { name: "poem" }), chunk("a", "two", true), chunk("b", "x", false), chunk("a", "!", true, { lastChunk: true })]);
  const items = group?.items.map((item) => (item.kind === "chunks" ? [item.first.name ?? item.first.artifactId, item.count, item.bytes, item.text, item.last.lastChunk] : []));
  assert.deepEqual(items, [["poem", 2, 7, "one two", false], ["b", 1, 1, "x", false], ["a", 1, 1, "!", true]]);
});

test("an artifact that is replaced is another item, and a text that was cut is not gone on with", () => {
  const cut = chunk("a", "begin", false, { parts: [{ type: "text", bytes: 9000, text: "begin", isCut: true }] });
  const [group] = groupsOf([cut, chunk("a", "never shown", true), chunk("a", "anew", false)]);
  const items = group?.items.map((item) => (item.kind === "chunks" ? [item.count, item.text, item.isCut] : []));
  assert.deepEqual(items, [[2, "begin", true], [1, "anew", false]]);
});

test("three items and more with the same words that follow each other are alike, whenever they were and whatever they came to", () => {
  const named = (name: string, nth: number, more: Partial<StepEntry> = {}): StepEntry => ({ ...step(nth, nth), name, nth, outcome: String(nth), ...more });
  const lengths = (items: Parameters<typeof alike>[0]) => alike(items).map((run) => run.length);
  assert.deepEqual(lengths([named("a", 1), named("a", 2), named("a", 3), named("b", 1), named("b", 2), named("a", 4)]), [3, 1, 1, 1]);
  assert.deepEqual(lengths([named("2.1", 1, { tool: "sum" }), named("3.1", 1, { tool: "sum" }), named("4.1", 1, { tool: "sum" })]), [3]);
  assert.deepEqual(lengths([named("a", 1), named("a", 2, { failed: true }), named("a", 3)]), [1, 1, 1]);
  assert.deepEqual(lengths([]), []);
});

test("sizes are told in the unit that fits", () => {
  assert.deepEqual([0, 999, 1500, 2_400_000].map(bytesText), ["0 B", "999 B", "1.5 KB", "2.4 MB"]);
});
