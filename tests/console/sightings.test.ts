// What the page says while a server is killed in the middle of a task.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Seen } from "../../console/src/api/endpoint.ts";
import { Sightings } from "../../console/src/pages/start/sightings.ts";

const event = (id: number, state?: string): Seen => ({ kind: "event", at: 1000 + id, id: String(id), data: JSON.stringify({ result: state === undefined ? { artifactUpdate: {} } : { statusUpdate: { status: { state } } } }) });
const answer = (status: number): Seen => ({ kind: "answer", at: 2000, status, body: "" });
const end = (error?: string): Seen => ({ kind: "end", at: 1500, error });

/** The lines after these items of the traffic. */
function linesOf(...items: Seen[]): string[] {
  const seen = new Sightings(1000, (state) => state);
  for (const item of items) seen.take(item);
  return seen.lines.value.map(({ text }) => text);
}

test("a stream that goes on where it broke has lost nothing", () => {
  const lines = linesOf(answer(200), event(1), event(2), end("The stream broke."), end("The server cannot be reached."), answer(503), end(), answer(200), event(3), event(4, "TASK_STATE_COMPLETED"), end());
  assert.deepEqual(lines, [
    "The agent has got the message, and its task has begun.",
    "The stream broke. The page asks for the rest until the server answers.",
    "The server is back, and the stream goes on behind event 2.",
    "The task has ended: TASK_STATE_COMPLETED. Events 1 to 4 have come, each once: nothing was lost.",
  ]);
});

test("events that are missing, or came twice, are counted", () => {
  assert.match(linesOf(event(1), event(2), event(2), event(5, "TASK_STATE_FAILED")).at(-1)!, /FAILED\. Of events 1 to 5, 2 did not come, and 1 came twice\./);
});

test("the end of a task is said once, also if only its state is known", () => {
  const seen = new Sightings(1000, (state) => state);
  seen.take(event(1));
  seen.killed(1200);
  seen.reached("TASK_STATE_WORKING", 1300);
  seen.reached("TASK_STATE_COMPLETED", 1400);
  seen.reached("TASK_STATE_COMPLETED", 1500);
  seen.take(end());
  assert.deepEqual(seen.lines.value.map(({ at }) => at), [1, 200, 400]);
});
