// Signing in with the commands for operators: keys and tokens, right, wrong, expired and none; where they are kept, and where they go.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Agent, message, type Task } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { agentsOf, SECRETS, token } from "./isolation.ts";
import { linesOf, Operator, withSchemes } from "./operate.ts";

let worker: Worker;
/** One who has signed in as an operator, and one who has not. */
let ops: Operator;
let stranger: Operator;
before(async () => {
  worker = await startWorker({ vars: { ...SECRETS, AGENTS: withSchemes(agentsOf(testAgents)) } });
  [ops, stranger] = [new Operator(worker.url), new Operator(worker.url)];
  const { code, stderr } = await ops.run(["login"], { input: `${SECRETS.KEY_OPS}\n` });
  assert.equal(code, 0, stderr);
});
after(async () => {
  await worker.stop();
  for (const operator of [ops, stranger]) operator.remove();
});

test("a key is tried, kept for its server in a file that nobody else reads, and shown nowhere", async () => {
  const kept = ops.kept();
  assert.equal(kept.length, 1);
  assert.equal(kept[0]?.mode, 0o600);
  assert.ok(kept[0]?.text.includes(SECRETS.KEY_OPS));
  const who = await ops.run(["whoami"]);
  assert.equal(who.code, 0, who.stderr);
  assert.match(who.stdout, /^Key +for all agents, scheme key, in the header X-Api-Key/m);
  assert.match(who.stdout, /^guarded +Operator$/m);
  assert.match(who.stdout, /^demo +Anybody$/m);
  const [told] = linesOf<{ agents: { agent: string; role: string }[] }>(await ops.run(["whoami", "--json"]));
  assert.deepEqual(told?.agents.find((one) => one.agent === "other"), { agent: "other", role: "operator" });
  assert.ok(!JSON.stringify([who, told]).includes(SECRETS.KEY_OPS));
});

test("a wrong key, an expired token and no key at all are not kept, and say what to do", async () => {
  const expired = token({ exp: 1_700_000_000 }).authorization?.replace("Bearer ", "") ?? "";
  for (const [input, code] of [["a-wrong-key", 3], [expired, 3], ["", 2], ["two\nlines", 2], ["\u001b[31m", 2]] as const) {
    const { code: ended, stdout, stderr } = await stranger.run(["login"], { input });
    assert.deepEqual([ended, stdout], [code, ""], stderr);
    assert.doesNotMatch(stderr, /a-wrong-key|eyJ/);
  }
  assert.deepEqual(stranger.kept(), []);
  const refused = await stranger.run(["tasks", "--agent", "guarded"]);
  assert.equal(refused.code, 3);
  assert.equal(refused.stderr, `guarded wants to know who asks. Sign in with: npx a2a-edge login --url ${worker.url}\n`);
});

test("a key is no argument", async () => {
  const { code, stderr } = await stranger.run(["login", "a-key"]);
  assert.equal(code, 2);
  assert.match(stderr, /There is no argument/);
});

test("a token is sent as a bearer's; who is no operator sees the own tasks with --own", async () => {
  const caller = new Operator(worker.url);
  const carol = `carol-${randomUUID()}`;
  const bearer = token({ sub: carol });
  const signed = await caller.run(["login", "--agent", "guarded"], { input: bearer.authorization?.replace("Bearer ", "") ?? "" });
  assert.equal(signed.code, 0, signed.stderr);
  assert.match(signed.stderr, /header Authorization, as Bearer/);
  assert.match(signed.stderr, /^Caller of guarded\.$/m);
  const task = (await new Agent(`${worker.url}/guarded`, bearer).call<{ task: Task }>("SendMessage", { message: message("hello") })).task;
  const denied = await caller.run(["tasks", "--agent", "guarded"]);
  assert.equal(denied.code, 1);
  assert.match(denied.stderr, /or --own for the tasks of the key's own caller/);
  const own = await caller.run(["tasks", "--agent", "guarded", "--own", "--json"]);
  assert.deepEqual(linesOf<{ id: string }>(own).map(({ id }) => id), [task.id]);
  assert.equal((await caller.run(["tasks", "--agent", "other", "--own"])).code, 3, "the key is for one agent");
  caller.remove();
});

test("a key that is not valid any more says so, and what to do", async () => {
  const caller = new Operator(worker.url);
  await caller.run(["login"], { input: SECRETS.KEY_BOB });
  const [kept] = caller.kept();
  writeFileSync(kept?.path ?? "", kept?.text.replace(SECRETS.KEY_BOB, "rotated-meanwhile") ?? "");
  const { code, stderr } = await caller.run(["tasks", "--agent", "guarded", "--own"]);
  assert.equal(code, 3);
  assert.equal(stderr, `guarded does not take the key, which is wrong or has expired. Sign in with: npx a2a-edge login --url ${worker.url} --agent guarded\n`);
  const who = await caller.run(["whoami"]);
  assert.equal(who.code, 3);
  assert.match(who.stdout, /^guarded +Not known$/m);
  caller.remove();
});

test("A2A_EDGE_KEY needs no sign-in, and goes to a server that is named alone", async () => {
  const env = { A2A_EDGE_KEY: SECRETS.KEY_OPS };
  const { code, stderr } = await stranger.run(["tasks", "--agent", "guarded", "--json"], { env });
  assert.equal(code, 0, stderr);
  const unnamed = await stranger.run(["tasks"], { env: { ...env, A2A_EDGE_URL: "" } });
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.stderr, /name the server that gets the key/);
  const open = await stranger.run(["tasks", "--url", "http://agents.example.com"], { env });
  assert.equal(open.code, 2);
  assert.match(open.stderr, /everybody on the way can read it: use https/);
});

test("signing out deletes the key", async () => {
  const operator = new Operator(worker.url);
  await operator.run(["login"], { input: SECRETS.KEY_BOB });
  assert.equal(operator.kept().length, 1);
  assert.equal((await operator.run(["logout"])).code, 0);
  assert.deepEqual(operator.kept(), []);
  assert.equal((await operator.run(["logout"])).code, 3);
  operator.remove();
});
