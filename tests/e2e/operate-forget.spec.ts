// `a2a-edge forget`: all tasks of an owner are deleted, and what is stored beside them, also where the command or the server is killed meanwhile.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, message, until, type Task } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { ids, list } from "./listing.ts";
import { answerJson, GUARDED, hasTerminal, linesOf, listed, Operator, standIn, withSchemes } from "./operate.ts";

interface Forgotten {
  owner: string;
  server: string;
  agents: string[];
  notAsked: string[];
  complete: boolean;
  deleted: { tasks: number; usage: number; usageTurns: number; webhooks: number; counters: number };
  left: number;
  countersKept: boolean;
  remains: { what: string; until: string | null }[];
}

const BOB = "key:bob";
const DAY_MS = 86_400_000;
const NONE = { tasks: 0, usage: 0, usageTurns: 0, webhooks: 0, counters: 0 };

let worker: Worker;
/** One who has signed in as an operator. */
let ops: Operator;
before(async () => {
  worker = await startWorker({ vars: { ...SECRETS, AGENTS: withSchemes(agentsOf(testAgents)) } });
  ops = new Operator(worker.url);
  const { code, stderr } = await ops.run(["login"], { input: `${SECRETS.KEY_OPS}\n` });
  assert.equal(code, 0, stderr);
});
after(async () => {
  await worker.stop();
  ops.remove();
});

const agent = (key: string, slug = "guarded") => new Agent(`${worker.url}/${slug}`, { "x-api-key": key });
const bob = (slug?: string) => agent(SECRETS.KEY_BOB, slug);
const begin = async (to: Agent, text: string) => (await to.call<{ task: Task }>("SendMessage", { message: message(text), configuration: { returnImmediately: text.startsWith("hold") } })).task;
const totals = async () => [(await list(bob())).totalSize, (await list(bob("other"))).totalSize];

/** The headers of a request that agents read. */
const headersOf = (headers: Record<string, unknown>) =>
  Object.fromEntries(["x-api-key", "authorization", "act-as"].flatMap((name) => (typeof headers[name] === "string" ? [[name, headers[name]]] : [])));

/** Runs the command to its end, and returns what it says for programs. */
async function forgotten(...more: string[]): Promise<Forgotten> {
  const ended = await ops.run(["forget", BOB, "--yes", "--json", ...more]);
  assert.equal(ended.code, 0, ended.stderr);
  const lines = linesOf<Forgotten>(ended);
  assert.equal(lines.length, 1);
  return lines[0] as Forgotten;
}

describe("an owner", () => {
  test("is forgotten with all agents: tasks in every state, with ids of clients, use of models, counters; and nobody else", async () => {
    const hers = await begin(agent(SECRETS.KEY_ALICE), "hers");
    const tasks = await Promise.all(["one", "ask", "hold 60000"].flatMap((text) => [begin(bob(), text), begin(bob("other"), text)]));
    const params = { id: "chosen by bob", message: { role: "user", parts: [{ type: "text", text: "hello" }] } };
    const sent = await fetch(`${worker.url}/guarded`, { method: "POST", headers: { "content-type": "application/json", "x-api-key": SECRETS.KEY_BOB }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/send", params }) });
    assert.equal(sent.status, 200);
    const [index, d1] = [await worker.index(BOB), await worker.d1()];
    const today = new Date().toISOString().slice(0, 10);
    for (const slug of ["guarded", "other"]) await index.prepare("INSERT INTO usage_turns VALUES (?1, ?2, 1, 'key:bob', ?2, 1, 20, 3, 4, '{}')").bind(today, slug).run();
    for (const owner of [BOB, "@key:blue"]) await d1.prepare("INSERT INTO counters VALUES (?1, 'get_counter', 3)").bind(owner).run();
    await until(totals, ([one, other]) => one === 4 && other === 3);

    const { deleted, remains, notAsked, ...about } = await forgotten();
    assert.ok(notAsked.includes("club"), "it has no secrets here");
    assert.deepEqual(about, { owner: BOB, server: worker.url, agents: ["guarded", "other"], complete: true, left: 0, countersKept: false });
    assert.deepEqual(deleted, { tasks: 7, usage: 2, usageTurns: 2, webhooks: 0, counters: 1 });
    const days = Object.fromEntries(remains.map(({ what, until }) => [what, until === null ? null : Math.round((Date.parse(until) - Date.now()) / DAY_MS)]));
    assert.deepEqual(days, { tombstones: 1, hours: 9, timeTravel: 30, logs: null, elsewhere: null });
    assert.deepEqual(await totals(), [0, 0]);
    for (const { id } of tasks) for (const slug of ["guarded", "other"]) await assert.rejects(bob(slug).getTask(id), /task not found/);
    for (const table of ["tasks", "task_counts", "usage", "usage_turns", "webhooks"]) {
      assert.deepEqual((await index.prepare(`SELECT owner FROM ${table} WHERE owner = 'key:bob'`).run()).results, [], table);
    }
    assert.deepEqual((await d1.prepare("SELECT owner FROM counters").run()).results, [{ owner: "@key:blue" }]);
    assert.deepEqual(ids((await list(agent(SECRETS.KEY_ALICE))).tasks), [hers.id]);
    assert.deepEqual((await forgotten()).deleted, NONE, "a second call deletes nothing");
  });

  test("is forgotten with one agent, and keeps the counters for the others", async () => {
    await Promise.all([begin(bob(), "one"), begin(bob("other"), "two")]);
    const { code, stdout } = await ops.run(["forget", BOB, "--agent", "guarded", "--yes"]);
    assert.equal(code, 0);
    const [first, second, ...remain] = stdout.trimEnd().split("\n");
    assert.equal(first, `Deleted of key:bob at ${worker.url}: 1 task.`);
    assert.equal(second, "The counters of key:bob stay: there are tasks of key:bob with other agents.");
    assert.match(remain.join("\n"), /^What remains:\n  until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d the tombstones of the tasks.*\n(  .+\n){3}  what the agents have sent elsewhere$/);
    assert.deepEqual(await totals(), [0, 1]);
    assert.deepEqual((await forgotten()).deleted, { ...NONE, tasks: 1 });
  });

  for (const [what, matches, nth] of [["a task", /^DELETE/, 4], ["the rows beside tasks", /owner:forget/, 1], ["the rows of the second agent", /owner:forget/, 2]] as const) {
    test(`is deleted by the same command where the command, or the server, was killed before or behind the deletion of ${what}`, async () => {
      for (const [killed, place] of [["command", "before"], ["command", "behind"], ["server", "before"], ["server", "behind"]] as const) {
        await Promise.all(Array.from({ length: 9 }, (_, at) => begin(bob(at % 3 === 0 ? "other" : "guarded"), at % 4 === 0 ? "ask" : "text")));
        let [asked, stop] = [0, () => undefined as void];
        const relay = await standIn((path, response, request) => {
          const pass = async (): Promise<void> => {
            const isMeant = matches.test(`${request.method} ${path}`) && ++asked === nth;
            const kill = () => (killed === "server" ? worker.kill9().then(() => void response.destroy()) : stop());
            if (isMeant && place === "before") return kill();
            const passed = await fetch(worker.url + (request.url ?? ""), { method: request.method ?? "GET", headers: { "a2a-version": "1.0", ...headersOf(request.headers) } });
            const text = await passed.text();
            // A command that is killed gets no answer.
            if (isMeant) return kill();
            response.writeHead(passed.status, { "content-type": "application/json" }).end(text);
          };
          pass().catch(() => response.destroy());
        });
        const running = ops.start(["forget", BOB, "--yes"], { env: { A2A_EDGE_URL: relay.url, A2A_EDGE_KEY: SECRETS.KEY_OPS } });
        stop = running.stop;
        const { code, stdout, stderr } = await running.ended;
        relay.close();
        assert.equal(code, killed === "server" ? 5 : 143, stderr);
        if (killed === "command") assert.equal(stdout, "");
        else {
          assert.match(stdout, /^Deleted of key:bob at http:.*\nNot everything is deleted\. Run the same command again\.\n$/);
          await worker.restart();
        }
        assert.equal((await forgotten()).left, 0);
        assert.deepEqual(await totals(), [0, 0]);
      }
    });
  }
});

describe("nothing is deleted", () => {
  test("without --yes where nobody can be asked", async () => {
    await begin(bob(), "kept");
    const { code, stdout, stderr } = await ops.run(["forget", BOB]);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^Nobody can be asked here; add --yes to go on\.$/m);
    assert.deepEqual(await totals(), [1, 0]);
  });

  test("until the name of the owner is typed", { skip: !hasTerminal }, async () => {
    const question = "Type the owner's name to go on: ";
    for (const [typed, code, told] of [["y\r", 1, /That is not the name\. Nothing was done\./], ["\r", 1, /Nothing was done\./], ["key:bo\r", 1, /Nothing was done\./], ["\u0004", 1, /Nothing was done\./], ["\u0003", 130, /^/]] as const) {
      const refused = await ops.onTerminal(["forget", BOB], [[question, typed]]);
      assert.equal(refused.code, code, refused.stdout);
      assert.match(refused.stdout, told);
      assert.deepEqual(await totals(), [1, 0]);
    }
    const { code, stdout } = await ops.onTerminal(["forget", BOB], [[question, `${BOB}\r`]]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /Deleted of key:bob at .*: 1 task\./);
    assert.deepEqual(await totals(), [0, 0]);
  });

  test("for others than operators, and wrong arguments are told", async () => {
    const task = await begin(bob(), "kept");
    const [stranger, caller] = [new Operator(worker.url), new Operator(worker.url)];
    await caller.run(["login"], { input: SECRETS.KEY_ALICE });
    for (const [who, args, code, why] of [
      [stranger, [BOB, "--yes"], 3, /^guarded wants to know who asks/m],
      [caller, [BOB, "--yes"], 1, /guarded refuses: acting as an operator needs the permission operator/],
      [ops, [BOB, "--yes", "--agent", "demo"], 1, /demo has no operators/],
      [ops, [BOB, "--yes", "--agent", "nobody"], 4, /has no agent "nobody"/],
      [ops, [], 2, /OWNER is missing/],
      [ops, [" ", "--yes"], 2, /OWNER is empty/],
      [ops, [BOB, "key:alice", "--yes"], 2, /There is no argument "key:alice"/],
      [ops, [BOB, "--all"], 2, /There is no option "--all"/],
    ] as const) {
      const { code: ended, stdout, stderr } = await who.run(["forget", ...args]);
      assert.deepEqual([ended, stdout], [code, ""], stderr);
      assert.match(stderr, why);
    }
    assert.deepEqual(ids((await list(bob())).tasks), [task.id]);
    for (const operator of [stranger, caller]) operator.remove();
  });
});

describe("a server", () => {
  /** Runs the command against a server with one agent; `answer` answers by the method and the path below the agent. */
  async function against(answer: (ask: string) => [number, unknown], others: object[] = []): Promise<{ code: number | null; stdout: string; stderr: string; asked: string[] }> {
    const asked: string[] = [];
    const server = await standIn((path, response, request) => {
      if (path === "/console/api/agents") return answerJson(response, { version: "1", agents: [listed("one", GUARDED), ...others] });
      const ask = `${request.method} ${path.replace("/one/", "")}`;
      asked.push(ask);
      const [status, value] = answer(ask);
      answerJson(response, value, status);
    });
    const env = { A2A_EDGE_URL: server.url };
    const ended = await ops.run(["forget", BOB, "--yes", "--json"], { env });
    server.close();
    return { ...ended, asked };
  }
  const task = (id: string) => ({ id, contextId: "c", status: { state: "TASK_STATE_COMPLETED" } });
  const page = (...names: string[]) => ({ tasks: names.map(task), nextPageToken: "", totalSize: names.length });
  const done = { ...NONE, hasTasks: false, done: true };

  test("where tasks begin meanwhile: they are told, and stay", async () => {
    const { code, stdout } = await against((ask) => (ask === "GET tasks" ? [200, page("a", "b")] : [200, ask.startsWith("DELETE") ? {} : { ...done, hasTasks: true }]));
    const [{ deleted, left, countersKept, complete }] = linesOf<Forgotten>({ code, stdout, stderr: "" }) as [Forgotten];
    assert.deepEqual([code, deleted.tasks, left, countersKept, complete], [1, 2, 2, true, false]);
  });

  test("with an agent that cannot run: it is told, and the others are asked", async () => {
    const others = [listed("two", { ...GUARDED, health: { state: "misconfigured" } })];
    const { code, stdout, stderr, asked } = await against((ask) => (ask === "GET tasks" ? [200, page()] : [200, done]), others);
    const [{ agents, notAsked, complete }] = linesOf<Forgotten>({ code, stdout, stderr }) as [Forgotten];
    assert.deepEqual([code, agents, notAsked, complete], [0, ["one"], ["two"], true]);
    assert.equal(stderr, "Not asked, because they cannot run: two. Tasks with them stay.\n");
    assert.deepEqual(asked, ["GET tasks", "GET tasks", "POST owner:forget", "GET tasks"]);
  });

  test("that cannot delete one task, or has deleted it already: the others are deleted, and the rows beside them", async () => {
    const { code, stdout, stderr, asked } = await against((ask) => {
      if (ask === "GET tasks") return [200, page("a", "b", "c")];
      if (ask === "DELETE tasks/b") return [500, { error: { message: "no" } }];
      return ask === "DELETE tasks/a" ? [404, { error: { message: "task not found" } }] : [200, ask.startsWith("DELETE") ? {} : done];
    });
    assert.deepEqual([code, linesOf<Forgotten>({ code, stdout, stderr })[0]?.deleted.tasks], [5, 1]);
    assert.match(stderr, /one cannot answer now: no/);
    assert.ok(asked.includes("POST owner:forget"));
  });

  test("that is an older one, never comes to an end, or wants to be asked later, ends the command", async () => {
    const rows = (value: unknown, status = 200) => (ask: string): [number, unknown] => (ask === "GET tasks" ? [200, page()] : [status, value]);
    for (const [answer, exit, why] of [
      [rows({ error: { message: "no such path" } }, 404), 4, /one: no such path/],
      [rows({}), 5, /one answered with something that does not say how far it is/],
      [rows({ ...done, done: false }), 5, /does not say how far it is/],
      [(ask: string): [number, unknown] => (ask === "GET tasks" ? [200, page("a", "b")] : [429, { error: { message: "too many" } }]), 5, /one cannot answer now: too many/],
    ] as const) {
      const { code, stderr, asked } = await against(answer);
      assert.equal(code, exit, stderr);
      assert.match(stderr, why);
      assert.ok(asked.length < 10, asked.join());
    }
  });
});
