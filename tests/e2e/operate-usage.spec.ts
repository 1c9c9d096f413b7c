// `a2a-edge usage` against the Worker: what callers have used, added up by owner, agent and day, for operators and for a key's own caller.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { Agent } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { linesOf, Operator, withSchemes, type Ended } from "./operate.ts";
import { addSum, beforeMidnight, dayAgo } from "./usage.ts";

const BOB = "key:bob";
/** Of alice, by her group. */
const BLUE = "@key:blue";

let worker: Worker;
let ops: Operator;
before(async () => {
  worker = await startWorker({ vars: { ...SECRETS, USAGE_CURRENCY: "EUR", AGENTS: withSchemes(agentsOf(testAgents)) } });
  for (const [key, owner] of [[SECRETS.KEY_BOB, BOB], [SECRETS.KEY_ALICE, BLUE]] as const) {
    for (const slug of ["guarded", "other"]) await new Agent(`${worker.url}/${slug}`, { "x-api-key": key }).sendForTask("hello");
    const index = await worker.index(owner);
    for (const [days, turns] of [[0, 1], [8, 3]] as const) await addSum(index, dayAgo(days), owner, "guarded", turns, { "gpt-x": 1 });
  }
  await addSum(await worker.index(BOB), dayAgo(0), BOB, "other", 50);
  ops = new Operator(worker.url);
});
after(async () => {
  await worker.stop();
  ops.remove();
});
beforeEach(beforeMidnight);

const run = (args: string[], key = SECRETS.KEY_OPS): Promise<Ended> => ops.run(["usage", ...args], { env: { A2A_EDGE_KEY: key } });
const sum = (named: object, turns: number) => ({ ...named, turns, requests: turns, inputTokens: 20 * turns, outputTokens: 3 * turns, cost: (4 * turns) / 1e6, currency: "EUR" });

async function sums(args: string[], key?: string): Promise<object[]> {
  const ended = await run([...args, "--json"], key);
  assert.equal(ended.code, 0, ended.stderr);
  return linesOf<object>(ended);
}

test("operators see what all callers have used, by owner, agent and day", async () => {
  assert.deepEqual(await sums([]), [sum({ agent: "guarded", owner: BLUE }, 4), sum({ agent: "guarded", owner: BOB }, 4), sum({ agent: "other", owner: BOB }, 50)]);
  assert.deepEqual(await sums(["--by", "agent"]), [sum({ agent: "guarded" }, 8), sum({ agent: "other" }, 50)]);
  assert.deepEqual(await sums(["--by", "model", "--agent", "guarded"]), [sum({ agent: "guarded", model: "" }, 4), sum({ agent: "guarded", model: "gpt-x" }, 4)]);
  assert.deepEqual(await sums(["--by", "day", "--agent", "guarded"]), [sum({ agent: "guarded", day: dayAgo(8) }, 6), sum({ agent: "guarded", day: dayAgo(0) }, 2)]);
  assert.deepEqual(await sums(["--owner", BOB, "--by", "day"]), [sum({ agent: "guarded", day: dayAgo(8) }, 3), sum({ agent: "guarded", day: dayAgo(0) }, 1), sum({ agent: "other", day: dayAgo(0) }, 50)]);
});

test("--since bounds the days: whole ones, from that of the instant on", async () => {
  for (const since of ["1h", "7d", dayAgo(7)]) assert.deepEqual(await sums(["--agent", "guarded", "--by", "agent", "--since", since]), [sum({ agent: "guarded" }, 2)], since);
  for (const since of ["8d", dayAgo(8), "2000-01-01"]) assert.deepEqual(await sums(["--agent", "guarded", "--by", "agent", "--since", since]), [sum({ agent: "guarded" }, 8)], since);
});

test("--own is what the key's own caller has used", async () => {
  assert.deepEqual(await sums(["--own", "--by", "agent"], SECRETS.KEY_ALICE), [sum({ agent: "guarded" }, 4)]);
  const none = await run(["--own"]);
  assert.deepEqual([none.code, none.stdout, none.stderr], [0, "", "Nothing was used.\n"]);
});

test("a table for people, and values with commas for programs", async () => {
  const table = await run(["--since", "1h"]);
  assert.equal(table.code, 0, table.stderr);
  assert.match(table.stdout, /^Agent +Owner +Turns +Requests +Tokens in +Tokens out +Cost \(EUR\)\n/);
  assert.match(table.stdout, /guarded +key:bob +1 +1 +20 +3 +0\.000004\n/);
  const csv = await run(["--csv", "--by", "day", "--agent", "other"]);
  assert.deepEqual([csv.code, csv.stdout], [0, `agent,day,turns,requests,inputTokens,outputTokens,cost,currency\nother,${dayAgo(0)},50,50,1000,150,0.0002,EUR\n`]);
});

test("what is refused says why", async () => {
  const denied = await run([], SECRETS.KEY_BOB);
  assert.notEqual(denied.code, 0);
  assert.match(denied.stderr, /permission/);
  for (const [args, told] of [[["--by", "month"], /Sums are by agent, owner, model, day/], [["--csv", "--json"], /Either --csv or --json/], [["--since", "soon"], /is no time/], [["--state", "failed"], /--state/]] as const) {
    const { code, stderr } = await run([...args]);
    assert.equal(code, 2);
    assert.match(stderr, told);
  }
});
