// Running a task again, and comparing two tasks: what is sent, and which numbers are called better.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { messageAgain } from "../../console/src/api/again.ts";
import type { Message } from "../../console/src/api/types.ts";
import { rowsOf, sentenceOf } from "../../console/src/pages/compare/verdicts.ts";
import type { Head } from "../../console/src/api/timeline.ts";

const head = (more: Partial<Head>): Head => ({
  taskId: "t", contextId: "c", state: "TASK_STATE_COMPLETED", createdAt: 1000, statusAt: 3000, agent: "a", generation: 3, underWay: [], ...more,
});
const usage = (requests: number, tokens: number, costMicros = 0): Partial<Head> => ({ usage: { requests, inputTokens: tokens, outputTokens: 1, costMicros } });
const wordsOf = (one: Head, other: Head): object => Object.fromEntries(rowsOf(one, other).map(({ name, better }) => [name, better]));

describe("of two tasks", () => {
  test("that are completed, each number that is smaller is better", () => {
    const one = head({ statusAt: 2000, ...usage(2, 1200, 2000) });
    const other = head({ failedSteps: 2, ...usage(3, 1000, 2000) });
    assert.deepEqual(wordsOf(one, other), { Time: ["1.0 s faster", ""], "Requests to models": ["1 fewer", ""], Tokens: ["", "200 fewer"], Cost: ["", ""], "Failed steps": ["2 fewer", ""] });
    assert.equal(sentenceOf(one, other), "Both are completed.");
  });

  test("one of which is not completed, none is better, and a running one has no time", () => {
    const fast = head({ statusAt: 1001, state: "TASK_STATE_FAILED", ...usage(1, 1) });
    assert.deepEqual(Object.values(wordsOf(fast, head(usage(9, 9)))).flat().join(""), "");
    assert.equal(sentenceOf(fast, head({})), "Only the second is completed, so their numbers are not compared.");
    assert.equal(sentenceOf(fast, fast), "Neither is completed, so their numbers are not compared.");
    const [time] = rowsOf(head({ state: "TASK_STATE_WORKING" }), head({}));
    assert.deepEqual(time, { name: "Time", values: [undefined, "2.0 s"], better: ["", ""] });
    assert.match(sentenceOf(head({ state: "TASK_STATE_INPUT_REQUIRED" }), head({})), /when both tasks have ended/);
  });

  test("without models, there are no rows about models", () => {
    assert.deepEqual(Object.keys(wordsOf(head({}), head({}))), ["Time", "Failed steps"]);
    assert.deepEqual(rowsOf(head(usage(1, 9)), head({})).find(({ name }) => name === "Tokens")?.values, ["10", undefined]);
  });
});

describe("the message that began a task", () => {
  const first: Message = {
    messageId: "m-1", role: "ROLE_USER", parts: [{ text: "a" }, { raw: "eA==", filename: "x" }], contextId: "c", taskId: "t", metadata: { skillId: "s" }, extensions: ["urn:x"], referenceTaskIds: ["r"],
  };
  const history: Message[] = [{ messageId: "a-1", role: "ROLE_AGENT", parts: [{ text: "?" }] }, first, { messageId: "m-2", role: "ROLE_USER", parts: [{ text: "later" }] }];

  test("is sent again whole, with an id and in a context of its own", () => {
    const { contextId: _, taskId: __, ...rest } = first;
    assert.deepEqual(messageAgain({ history }, { id: "new", isSameAgent: true }), { ...rest, messageId: "new" });
  });

  test("refers to no tasks that another agent does not know", () => {
    assert.equal("referenceTaskIds" in messageAgain({ history }, { id: "new", isSameAgent: false }), false);
  });

  test("cannot be sent again if it is not kept", () => {
    assert.throws(() => messageAgain({}, { id: "new", isSameAgent: true }), /is not kept/);
    assert.throws(() => messageAgain({ history: [{ ...first, parts: [] }] }, { id: "new", isSameAgent: true }), /is empty/);
  });
});
