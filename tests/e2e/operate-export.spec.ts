// `a2a-edge export`: the tasks of an owner as JSON lines, each whole, also where the export is interrupted.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Agent, message, type Task } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { linesOf, Operator, withSchemes } from "./operate.ts";

interface Line {
  type: string;
  agent?: string;
  task?: Task;
  cursor?: string;
  server?: string;
  owner?: string;
}

/** More tasks than two pages hold. */
const COUNT = 55;

let worker: Worker;
let ops: Operator;
let stranger: Operator;
let tasks: Task[];
before(async () => {
  worker = await startWorker({ vars: { ...SECRETS, AGENTS: withSchemes(agentsOf(testAgents)) } });
  [ops, stranger] = [new Operator(worker.url), new Operator(worker.url)];
  const { code, stderr } = await ops.run(["login"], { input: `${SECRETS.KEY_OPS}\n` });
  assert.equal(code, 0, stderr);
  const begin = async (key: string, text: string) => (await agent(key).call<{ task: Task }>("SendMessage", { message: message(text) })).task;
  tasks = [];
  for (let nth = 0; nth < COUNT; nth++) tasks.push(await begin(SECRETS.KEY_BOB, nth % 10 === 0 ? "ask" : `text ${nth}`));
  await begin(SECRETS.KEY_ALICE, "hers");
});
after(async () => {
  await worker.stop();
  for (const operator of [ops, stranger]) operator.remove();
});

const agent = (key: string) => new Agent(`${worker.url}/guarded`, { "x-api-key": key });
const parsed = (text: string) => text.trim().split("\n").map((line) => JSON.parse(line) as Line);
const exported = (lines: Line[]) => lines.filter(({ type }) => type === "task").map(({ task }) => task);

/** Checks that lines have each task of bob once, as GetTask gives it. */
async function assertAll(lines: Line[]): Promise<void> {
  const whole = await Promise.all(tasks.map(({ id }) => agent(SECRETS.KEY_BOB).getTask(id)));
  const byId = (one?: Task, other?: Task) => ((one?.id ?? "") < (other?.id ?? "") ? -1 : 1);
  assert.deepEqual(exported(lines).sort(byId), whole.sort(byId));
  assert.ok(lines.every(({ type, agent }) => type !== "task" || agent === "guarded"));
  assert.equal(lines.at(-1)?.type, "end");
}

describe("an export", () => {
  test("has each task of the owner, whole, and those of nobody else", async () => {
    const { code, stdout, stderr } = await ops.run(["export", "key:bob"]);
    assert.equal(code, 0, stderr);
    await assertAll(parsed(stdout));
    assert.doesNotMatch(stdout, /hers/);
    assert.match(stderr, /^55 tasks of key:bob at http:.* were written\.$/m);
  });

  test("goes on from a cursor of its output", async () => {
    const lines = linesOf<Line>(await ops.run(["export", "key:bob"]));
    const at = lines.findIndex(({ type }) => type === "cursor");
    const rest = linesOf<Line>(await ops.run(["export", "key:bob", "--cursor", lines[at]?.cursor ?? ""]));
    await assertAll([...lines.slice(0, at), ...rest]);
  });

  test("to a file goes on wherever it was interrupted, and has each task once", async () => {
    const path = join(ops.folder, "bob.jsonl");
    assert.equal((await ops.run(["export", "key:bob", "--out", path])).code, 0);
    const whole = readFileSync(path);
    await assertAll(parsed(whole.toString()));
    assert.deepEqual(parsed(whole.toString())[0], { type: "export", server: worker.url, owner: "key:bob" });
    for (const share of [0.001, 0.2, 0.5, 0.7, 0.97, 0.9999]) {
      writeFileSync(path, whole.subarray(0, Math.floor(whole.length * share)));
      const { code, stderr } = await ops.run(["export", "key:bob", "--out", path]);
      assert.equal(code, 0, stderr);
      await assertAll(parsed(readFileSync(path, "utf8")));
    }
    const again = await ops.run(["export", "key:bob", "--out", path]);
    assert.deepEqual([again.code, again.stderr], [0, `${path} has the whole export. Delete it to begin anew.\n`]);
  });

  test("leaves other files as they are", async () => {
    const path = join(ops.folder, "other.txt");
    for (const text of ["notes", "notes\n", `${JSON.stringify({ type: "export", server: worker.url, owner: "key:alice" })}\n`]) {
      writeFileSync(path, text);
      const { code, stderr } = await ops.run(["export", "key:bob", "--out", path]);
      assert.deepEqual([code, /holds something else than an export of key:bob/.test(stderr)], [2, true], stderr);
      assert.equal(readFileSync(path, "utf8"), text);
    }
  });

  test("is for operators, and wrong arguments are told", async () => {
    const unsigned = await stranger.run(["export", "key:bob", "--agent", "guarded"]);
    assert.equal(unsigned.code, 3, unsigned.stderr);
    const open = await ops.run(["export", "key:bob", "--agent", "demo"]);
    assert.deepEqual([open.code, /demo has no operators/.test(open.stderr)], [1, true], open.stderr);
    for (const [args, told] of [
      [[], /OWNER is missing/],
      [["key:bob", "--cursor", "x"], /"x" is no cursor of an export/],
      [["key:bob", "--cursor", "x", "--out", "f"], /either --out or --cursor/],
      [["key:bob", "--out", join(ops.folder, "no", "file")], /cannot be written/],
    ] as const) {
      const { code, stderr } = await ops.run(["export", ...args]);
      assert.deepEqual([code, told.test(stderr)], [2, true], stderr);
    }
    const nobody = linesOf<Line>(await ops.run(["export", "key:nobody"]));
    assert.deepEqual(nobody.filter(({ type }) => type !== "cursor"), [{ type: "end" }]);
  });
});
