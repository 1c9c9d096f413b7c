// Skills of a remote agent's card on the card of its front: when they are fetched, kept and fetched again.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bearer, caller, secretsOf } from "./access.ts";
import { logged, until } from "./client.ts";
import { askExtended, cardIn } from "./club.ts";
import { CARD, Elsewhere, ask, cardOf, idsOf, skill, withLearners, type Card } from "./elsewhere.ts";
import { startWorker, type Worker } from "./harness.ts";

const { ALICE, BOB } = secretsOf("ALICE", "BOB");
const access = {
  schemes: { token: { kind: "bearer", callers: [caller("alice", ["ALICE"], { permissions: ["read"] }), caller("bob", ["BOB"])] } },
};
const names = ["plain", "guarded", "held", "late", "lost", "changing", "shared"] as const;

let elsewhere: Elsewhere;
let worker: Worker;
before(async () => {
  elsewhere = await Elsewhere.open();
  elsewhere.has("learner", [skill("echo", { name: "Echo" }), skill("shout")]);
  for (const name of names) elsewhere.has(name, [skill("one"), skill("two")]);
  const guarded = { access, own: [{ id: "two", name: "Second", permissions: ["read"] }] };
  const agents = withLearners(elsewhere, { ...Object.fromEntries(names.map((name) => [name, {}])), guarded });
  worker = await startWorker({ vars: { AGENTS: agents, NEXT_URL: `${elsewhere.url}/learner`, ALICE, BOB }, hasTwin: true });
});
after(async () => {
  await worker.stop();
  elsewhere.close();
});

const ids = async (slug: string): Promise<string[]> => idsOf(await cardOf(worker, slug));
const maxAge = (response: Response): number => Number(/max-age=(\d+)/.exec(response.headers.get("cache-control") ?? "")?.[1]);

/** Makes every remembered card two hours old, and restarts the instance. */
async function age(): Promise<void> {
  const fetched = Date.now() - 7_200_000;
  const statement = "UPDATE remembered SET fetched_ms = ?1, fresh_until_ms = ?1 + 300000 WHERE key LIKE 'card:%'";
  await (await worker.d1()).prepare(statement).bind(fetched).run();
  await worker.restart();
}

/** Waits until the card of a remote agent is stored; it is stored in the background. */
async function stored(name: string): Promise<void> {
  const statement = "SELECT key FROM remembered WHERE key LIKE 'card:%' AND instr(value, ?1) > 0";
  const rows = async () => (await (await worker.d1()).prepare(statement).bind(`\\"name\\":\\"${name}\\"`).run()).results;
  await until(rows, ({ length }) => length === 1);
}

describe("a front whose file takes over the skills of the remote agent", () => {
  test("shows them, with what the file says of them, in every version of its card", async () => {
    const { skills } = await cardOf(worker, "learner");
    // The front also accepts JSON; these skills do not.
    const modes = { inputModes: ["text/plain"], outputModes: ["text/plain"] };
    assert.deepEqual(skills, [
      { ...skill("echo"), name: "Echo", description: "Says it again, from afar.", ...modes },
      { ...skill("shout"), ...modes },
    ]);
    for (const [version, path] of [["0.3", CARD], ["0.3", "/.well-known/agent.json"], ["", "/.well-known/agent.json"]] as const) {
      const headers: Record<string, string> = version === "" ? {} : { "a2a-version": version };
      const card = await cardOf(worker, "learner", headers, path);
      assert.deepEqual(card.skills.map(({ id, description }) => [id, description]), skills.map(({ id, description }) => [id, description]));
    }
    const page = await (await ask(worker, "learner", { accept: "text/html" }, "")).text();
    assert.match(page, /<li><strong>Echo<\/strong>: Says it again, from afar\.<\/li><li><strong>The shout<\/strong>: Does shout\.<\/li>/);
    assert.equal(elsewhere.asked("learner").length, 1, "the card of the remote agent was asked for once");
  });

  test("tells a client that has the card already so", async () => {
    const first = await ask(worker, "plain");
    const [etag, modified] = [first.headers.get("etag") ?? "", first.headers.get("last-modified") ?? ""];
    assert.ok(maxAge(first) >= 60 && maxAge(first) < 3_600, "it may change");
    for (const headers of [{ "if-none-match": etag }, { "if-modified-since": modified }]) {
      assert.equal((await ask(worker, "plain", headers)).status, 304);
    }
    const head = await ask(worker, "plain", {}, CARD, "HEAD");
    assert.deepEqual([head.status, head.headers.get("etag"), await head.text()], [200, etag, ""]);
    assert.ok(Date.parse(modified) > Date.now() - 60_000, "not when the agent files were built");
  });

  test("hides those for which the file asks permissions", async () => {
    assert.deepEqual(await ids("guarded"), ["one"]);
    for (const binding of ["JSONRPC", "HTTP+JSON"] as const) {
      for (const [secret, expected] of [[ALICE, [["one", "The one"], ["two", "Second"]]], [BOB, [["one", "The one"]]]] as const) {
        const card: object = await cardIn(binding, await askExtended(binding, `${worker.url}/guarded`, bearer(secret)));
        assert.deepEqual((card as Card).skills.map(({ id, name }) => [id, name]), expected);
      }
    }
    const personal = await cardOf(worker, "guarded", { "a2a-version": "0.3", ...bearer(ALICE) }, "/.well-known/agent.json");
    assert.deepEqual(idsOf(personal), ["one", "two"]);
  });
});

describe("a remote agent whose server", () => {
  test("does not answer is not waited for, and its skills are there when it has", async () => {
    elsewhere.holding.add("held");
    for (const nth of [1, 2, 3]) {
      const response = await ask(worker, "held");
      assert.deepEqual(idsOf((await response.json()) as Card), [], `answer ${nth}`);
      assert.ok(maxAge(response) < 60, "clients ask again soon");
      assert.equal(elsewhere.asked("held").length, 1, "one request is under way");
    }
    elsewhere.release("held");
    assert.deepEqual(await until(() => ids("held"), ({ length }) => length > 0), ["one", "two"]);
    assert.equal(elsewhere.asked("held").length, 1);
  });

  test("is down at first leaves the card without them, until it is up", async () => {
    elsewhere.down.add("late");
    assert.deepEqual(await ids("late"), []);
    assert.deepEqual(await ids("late"), []);
    assert.equal(elsewhere.asked("late").length, 1, "it is left alone for a while");
    await logged(worker, /^the card of the agent at .*it answered 503$/);
    elsewhere.down.delete("late");
    await worker.restart();
    assert.deepEqual(await ids("late"), ["one", "two"]);
  });

  test("is down later leaves those that are known, also to a Worker that begins", async () => {
    assert.deepEqual(await ids("lost"), ["one", "two"]);
    await stored("lost");
    elsewhere.down.add("lost");
    await worker.restart();
    const asked = elsewhere.asked("lost").length;
    assert.deepEqual(await ids("lost"), ["one", "two"]);
    assert.equal(elsewhere.asked("lost").length, asked, "they are fresh");
    await age();
    assert.deepEqual(await ids("lost"), ["one", "two"]);
    await until(() => Promise.resolve(elsewhere.asked("lost").length), (count) => count > asked);
    assert.deepEqual(await ids("lost"), ["one", "two"]);
  });

  test("has another card shows the old one while the new one is fetched, once, and then the new one", async () => {
    assert.deepEqual(await ids("changing"), ["one", "two"]);
    const etag = (await ask(worker, "changing")).headers.get("etag") ?? "";
    await stored("changing");
    await age();
    elsewhere.has("changing", [skill("two"), skill("three")]);
    elsewhere.holding.add("changing");
    const asked = elsewhere.asked("changing").length;
    for (let nth = 0; nth < 3; nth++) assert.deepEqual(await ids("changing"), ["one", "two"]);
    await until(() => Promise.resolve(elsewhere.asked("changing").length), (count) => count > asked);
    elsewhere.release("changing");
    assert.deepEqual(await until(() => ids("changing"), (known) => known.includes("three")), ["two", "three"]);
    assert.equal(elsewhere.asked("changing").length, asked + 1);
    const again = await ask(worker, "changing", { "if-none-match": etag });
    assert.equal(again.status, 200, "it is another card");
  });
});

test("two Workers over one database ask once, and both keep what is known while the server is down", async () => {
  const twin = () => ({ url: worker.twin });
  assert.deepEqual(await ids("shared"), ["one", "two"]);
  await stored("shared");
  assert.deepEqual(idsOf(await cardOf(twin(), "shared")), ["one", "two"]);
  assert.equal(elsewhere.asked("shared").length, 1);
  elsewhere.down.add("shared");
  await age();
  const both = () => Promise.all([worker, twin(), worker, twin()].map(async (one) => idsOf(await cardOf(one, "shared"))));
  for (let nth = 0; nth < 2; nth++) assert.deepEqual(await both(), Array(4).fill(["one", "two"]));
  await until(() => Promise.resolve(elsewhere.asked("shared").length), (count) => count > 1);
  assert.deepEqual(await both(), Array(4).fill(["one", "two"]));
  assert.equal(elsewhere.asked("shared").length, 2, "one of the two has asked whether it has changed");
});

test("a front of which a variable is not set shows its own skills, and the operator is told why", async () => {
  const other = await startWorker();
  try {
    const card = await cardOf(other, "learner");
    assert.deepEqual(card.skills.map(({ id, description }) => [id, description]), [["echo", "Says it again, from afar."]]);
    await logged(other, "NEXT_URL");
    const told = other.logs.map(({ message }) => message).filter((message) => message.includes("NEXT_URL"));
    assert.deepEqual(told, ["the agent learner: its skills cannot be learned: the remote next: `url`: the secret or variable NEXT_URL is not set in this deployment, or is empty"]);
  } finally {
    await other.stop();
  }
});
