// The fold of events: whatever is cut, doubled or said in another order, the reader sees the task as it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fold, isGap, UNKNOWN, withMessages, withOwn, type Entry, type Story } from "../../console/src/api/fold.ts";
import type { Message, StreamResponse, Task, TaskState } from "../../console/src/api/types.ts";

interface Event {
  id: string;
  response: StreamResponse;
}

const said = (messageId: string, text: string, role: Message["role"] = "ROLE_AGENT"): Message => ({ messageId, role, parts: [{ text }] });
const own = said("m-1", "go", "ROLE_USER");
const answer = said("m-2", "red", "ROLE_USER");
const asked = said("q-1", "Which colour?");

const task = (id: number, state: string, changes: Partial<Task> = {}): Event => ({
  id: String(id),
  response: { task: { id: "t", contextId: "c", status: { state: `TASK_STATE_${state}` as TaskState }, history: [own], ...changes } },
});
const status = (id: number, state: string, message?: Message): Event => ({
  id: String(id),
  response: { statusUpdate: { taskId: "t", contextId: "c", status: { state: `TASK_STATE_${state}` as TaskState, ...(message === undefined ? {} : { message }) } } },
});
const chunk = (id: number, artifactId: string, text: string, append: boolean, lastChunk = false): Event => ({
  id: String(id),
  response: { artifactUpdate: { taskId: "t", artifact: { artifactId, parts: [{ text }] }, append, lastChunk } },
});

/** A task with every kind of event: chunks of two artifacts at a time, one replaced, a question, an answer, the end. */
const whole: Event[] = [
  task(1, "SUBMITTED"),
  status(2, "WORKING", said("n-1", "Looking…")),
  chunk(3, "a", "one ", false),
  chunk(4, "b", "first", false, true),
  chunk(5, "a", "two ", true),
  status(6, "INPUT_REQUIRED", asked),
  status(7, "WORKING"),
  chunk(8, "b", "second", false, true),
  chunk(9, "a", "three", true, true),
  status(10, "COMPLETED", said("e-1", "Done.")),
];
const history = [own, said("n-1", "Looking…"), asked, answer];

const told = (events: readonly Event[], story: Story = UNKNOWN) => events.reduce((before, event) => fold(before, event, "generations"), story);

const line = (entry: Entry): string => {
  if (entry.kind === "message") return `${entry.message.role === "ROLE_USER" ? "user" : "agent"}: ${entry.message.parts[0]?.text}`;
  if (entry.kind === "state") return entry.state.replace("TASK_STATE_", "");
  return `${entry.artifact.artifactId} = ${entry.artifact.parts.map(({ text }) => text).join("|")}${entry.isLive ? "…" : ""}${entry.replaced > 0 ? ` (${entry.replaced})` : ""}`;
};
const lines = (story: Story) => story.entries.map(line);

const expected = ["user: go", "SUBMITTED", "agent: Looking…", "a = one two three", "b = second (1)", "agent: Which colour?", "WORKING", "agent: Done."];

test("the events of a task are its messages, states and artifacts in their order", () => {
  const story = told(whole);
  assert.deepEqual(lines(story), expected);
  assert.equal(story.task?.status.state, "TASK_STATE_COMPLETED");
  assert.equal(story.newest, "10");
});

test("chunks are joined as they come, and an artifact is live until its last one", () => {
  assert.deepEqual(lines(told(whole.slice(0, 3))).at(-1), "a = one …");
  assert.deepEqual(lines(told(whole.slice(0, 5))).slice(-2), ["a = one two …", "b = first"]);
  assert.ok(told(whole.slice(0, 6)).entries.every((entry) => entry.kind !== "artifact" || !entry.isLive), "nothing is received while the task asks");
});

test("a stream that is cut anywhere and goes on with any overlap loses and doubles nothing", () => {
  for (let cut = 0; cut <= whole.length; cut += 1) {
    for (let from = 0; from <= cut; from += 1) {
      assert.deepEqual(lines(told(whole.slice(from), told(whole.slice(0, cut)))), expected, `cut after ${cut}, on from ${from}`);
    }
  }
});

test("every event twice is every event once", () => {
  assert.deepEqual(lines(told(whole.flatMap((event) => [event, event]))), expected);
});

test("events of an older time change nothing", () => {
  const story = told(whole);
  for (const event of whole) assert.deepEqual(lines(fold(story, event, "generations")), expected);
});

test("a snapshot puts right what was lost, and keeps the order of what was seen", () => {
  const seen = told(whole.slice(0, 3));
  const snapshot = task(9, "WORKING", {
    history: [...history],
    artifacts: [{ artifactId: "b", parts: [{ text: "second" }] }, { artifactId: "a", parts: [{ text: "one " }, { text: "two " }, { text: "three" }] }],
  });
  const story = told([whole[9]!], fold(seen, snapshot, "generations"));
  assert.deepEqual(lines(story), ["user: go", "SUBMITTED", "agent: Looking…", "agent: Which colour?", "user: red", "a = one two three", "b = second", "agent: Done."]);
});

test("an event behind a gap is told as one", () => {
  const story = told(whole.slice(0, 3));
  assert.equal(isGap(story, whole[3]!, "generations"), false);
  assert.equal(isGap(story, whole[4]!, "generations"), true);
  assert.equal(isGap(story, task(9, "WORKING"), "generations"), false, "a snapshot has everything before it");
  assert.equal(isGap(story, whole[4]!, "marks"), false);
});

test("a chunk to append before its artifact has begun begins it", () => {
  const story = told([task(1, "WORKING"), chunk(2, "late", "in the middle", true), chunk(3, "late", ", and on", true)]);
  assert.deepEqual(lines(story).at(-1), "late = in the middle, and on…");
});

test("an event without a task before it makes one", () => {
  assert.equal(told([chunk(2, "a", "x", false)]).task?.id, "t");
  assert.equal(told([status(2, "WORKING")]).task?.contextId, "c");
});

test("the messages of a history stand behind those that they follow", () => {
  const story = withMessages(told(whole), history);
  assert.deepEqual(lines(story), [...expected.slice(0, 6), "user: red", ...expected.slice(6)]);
  assert.equal(withMessages(story, history), story, "what is known changes nothing");
});

test("a message of this page is shown at once, and once", () => {
  const story = withOwn(told(whole.slice(0, 6)), answer);
  assert.equal(lines(story).at(-1), "user: red");
  const later = told([task(7, "WORKING", { history: [own, asked, answer] }), ...whole.slice(7)], story);
  assert.equal(lines(later).filter((text) => text === "user: red").length, 1);
  assert.equal(withOwn(later, answer), later);
});

test("ids that are marks and no numbers are told apart by being the newest", () => {
  const marked = (id: string, text: string): Event => ({ ...chunk(0, "a", text, true), id });
  const events = [marked("x-9", "one "), marked("x-10", "two "), marked("x-10", "two "), marked("a", "three")];
  const story = events.reduce((before, event) => fold(before, event, "marks"), UNKNOWN);
  assert.deepEqual(lines(story), ["a = one two three…"]);
  assert.equal(story.newest, "a");
});

test("ten thousand chunks are folded in a moment", () => {
  const events = Array.from({ length: 10_000 }, (_, at) => chunk(at + 2, "a", "word ", at > 0));
  const begun = performance.now();
  const story = told([task(1, "WORKING"), ...events]);
  const taken = performance.now() - begun;
  const last = story.entries.at(-1);
  assert.equal(last?.kind === "artifact" ? last.artifact.parts[0]?.text?.length : 0, 50_000);
  assert.ok(taken < 2000, `it took ${taken} ms`);
});

test("parts of other kinds stay apart, and so do texts of another media type", () => {
  const artifact = { artifactId: "a", parts: [{ text: "a" }, { text: "b" }, { data: 1 }, { text: "c" }, { text: "d", mediaType: "text/markdown" }] };
  const story = told([task(1, "WORKING", { artifacts: [artifact] })]);
  const entry = story.entries.find(({ kind }) => kind === "artifact");
  assert.deepEqual(entry?.kind === "artifact" ? entry.artifact.parts : [], [{ text: "ab" }, { data: 1 }, { text: "c" }, { text: "d", mediaType: "text/markdown" }]);
});
