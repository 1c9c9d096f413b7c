// `a2a-edge deploy --check URL`: a deployment is tried as its callers use it, and what is wrong is a sentence. Its tasks are deleted in the end.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { after, before, describe, test } from "node:test";
import { until } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { agentsOf, SECRETS } from "./isolation.ts";
import { answerJson, GUARDED, linesOf, listed, Operator, standIn, withSchemes, type Ended, type Run } from "./operate.ts";
import { Sink } from "./sink.ts";

interface Finding {
  part: string;
  outcome: "ok" | "wrong" | "untried";
  text: string;
}

/** These agents of the tests. */
function agentsFor(...slugs: string[]): string {
  const whole = JSON.parse(withSchemes(agentsOf(testAgents))) as { agents: { slug: string }[] };
  return JSON.stringify({ ...whole, agents: whole.agents.filter(({ slug }) => slugs.includes(slug)) });
}

const check = (operator: Operator, url: string, args: string[] = [], options: Run = {}): Promise<Ended> => operator.run(["deploy", "--check", url, ...args], options);

/** The findings of a check, with its exit code. */
async function findings(operator: Operator, url: string, args: string[] = [], options: Run = {}): Promise<{ code: number | null; found: Finding[]; of(part: string): string }> {
  const ended = await check(operator, url, [...args, "--json"], options);
  const found = linesOf<Finding>(ended);
  return { code: ended.code, found, of: (part) => found.filter((one) => one.part === part).map(({ outcome, text }) => `${outcome}: ${text}`).join("\n") };
}

describe("a server that is in order", () => {
  let worker: Worker;
  let sink: Sink;
  let operator: Operator;
  before(async () => {
    sink = await Sink.open();
    worker = await startWorker({ assets: true, vars: { ...SECRETS, AGENTS: agentsFor("assistant", "demo", "guarded") } });
    operator = new Operator(worker.url);
  });
  after(async () => {
    await worker.stop();
    sink.close();
    operator.remove();
  });

  const tasksOf = async (slug: string, key: string) => linesOf((await operator.run(["tasks", "--agent", slug, "--json"], { env: { A2A_EDGE_KEY: key } })));

  test("passes in every part, with the default agent, and says before that it sends messages", async () => {
    const { code, stdout, stderr } = await check(operator, worker.url);
    assert.equal(code, 0, stdout);
    const parts = stdout.trim().split("\n").map((line) => /^ok {7}(\w+) +\S/.exec(line)?.[1]);
    assert.deepEqual(parts, ["agents", "card", "console", "key", "clock", "send", "list", "queue", "webhook", "stream"]);
    assert.equal(stderr, `Up to two messages are sent to assistant at ${worker.url}, which works on them as on any other; their tasks are deleted.\n`);
    assert.match(stdout, new RegExp(`^ok +webhook +The notification has reached ${worker.url}/assistant\\.$`, "m"));
  });

  test("refuses a wrong key, and takes the own one; without one the rest is not tried", async () => {
    const stranger = await findings(operator, worker.url, ["--agent", "guarded"]);
    assert.equal(stranger.code, 3);
    assert.equal(stranger.of("key"), `ok: guarded refuses a wrong key.\nuntried: There is no key for guarded here, so nothing else of it was tried. Sign in with: npx a2a-edge login --url ${worker.url}`);
    assert.equal(stranger.of("send"), "");
    const known = await findings(operator, worker.url, ["--agent", "guarded"], { env: { A2A_EDGE_KEY: SECRETS.KEY_OPS } });
    assert.deepEqual([known.code, known.found.filter(({ outcome }) => outcome !== "ok")], [0, []]);
    assert.equal(known.of("key"), "ok: guarded refuses a wrong key.\nok: guarded takes your credentials.");
    assert.ok(!JSON.stringify(known.found).includes(SECRETS.KEY_OPS));
  });

  test("has no task of the check in the end", async () => {
    assert.equal((await findings(operator, worker.url, ["--agent", "guarded"], { env: { A2A_EDGE_KEY: SECRETS.KEY_OPS } })).code, 0);
    assert.deepEqual(await tasksOf("guarded", SECRETS.KEY_OPS), []);
    // A task that asks for something is deleted, too.
    assert.equal((await findings(operator, worker.url, ["--agent", "guarded", "--text", "ask"], { env: { A2A_EDGE_KEY: SECRETS.KEY_OPS } })).code, 0);
    assert.deepEqual(await tasksOf("guarded", SECRETS.KEY_OPS), []);
  });

  test("does not take a key that was kept and is not valid any more", async () => {
    const other = new Operator(worker.url);
    assert.equal((await other.run(["login"], { input: SECRETS.KEY_BOB })).code, 0);
    const [kept] = other.kept();
    writeFileSync(kept?.path ?? "", kept?.text.replace(SECRETS.KEY_BOB, "rotated-meanwhile") ?? "");
    const { code, of } = await findings(other, worker.url, ["--agent", "guarded"]);
    assert.equal(code, 1);
    assert.match(of("key"), /^wrong: guarded does not take your key, which is wrong or has expired\. Sign in with: npx a2a-edge login/m);
    other.remove();
  });

  test("is tried with another text: a message in place of a task, a task that fails", async () => {
    const message = await findings(operator, worker.url, ["--agent", "demo", "--text", "message"]);
    assert.equal(message.code, 0);
    assert.equal(message.of("send"), "ok: demo answers with a message.");
    assert.match(message.of("list"), /^untried: demo made no task\. Name another agent with --agent, or another text with --text\.$/);
    const failed = await findings(operator, worker.url, ["--agent", "demo", "--text", "fail"]);
    assert.equal(failed.code, 1);
    assert.match(failed.of("send"), /^wrong: The task with demo ended as Failed: It did not work, as you wished\. npx a2a-edge wrangler tail shows/);
    assert.match(failed.of("stream"), /^wrong: The task with demo ended as Failed/);
  });

  test("sends notifications to a receiver that is named; what that answers is told", async () => {
    const good = await findings(operator, worker.url, ["--agent", "demo", "--webhook", `${sink.url}/check-good`]);
    assert.deepEqual([good.code, good.of("webhook")], [0, `ok: The notification has reached ${sink.url}/check-good.`]);
    assert.equal((await sink.arrival("/check-good")).method, "POST");
    sink.plan("/check-bad", { status: 503 });
    const bad = await findings(operator, worker.url, ["--agent", "demo", "--webhook", `${sink.url}/check-bad`]);
    assert.equal(bad.code, 1);
    assert.match(bad.of("webhook"), /^wrong: The notification was sent to .*\/check-bad, which answered with status 503\. A receiver answers 2xx at once; look at its log\.$/);
    const private_ = await findings(operator, worker.url, ["--agent", "demo", "--webhook", "https://user:x@example.com/"]);
    assert.match(private_.of("webhook"), /^untried: The webhook was not taken\. demo refuses: .*Another receiver: --webhook URL$/);
  });

  test("has no such agent, or is asked wrongly", async () => {
    const absent = await check(operator, worker.url, ["--agent", "nobody"]);
    assert.deepEqual([absent.code, absent.stderr], [4, `${worker.url} has no agent "nobody"; it has assistant, demo, guarded.\n`]);
    assert.equal((await check(operator, "ftp://a.example")).code, 2);
  });
});

test("a server whose settings are wrong says which: secrets, PUBLIC_URL, hosts of webhooks, no console", async () => {
  const worker = await startWorker({ vars: { ...SECRETS, AGENTS: agentsFor("assistant", "club"), PUBLIC_URL: "https://agents.example.com", WEBHOOK_HOSTS: "hooks.example.com" } });
  const operator = new Operator(worker.url);
  const { code, of } = await findings(operator, worker.url);
  assert.equal(code, 1);
  assert.match(of("agents"), /^wrong: club refuses every message: .*CLUB_GUEST_KEY is not set in this deployment\. Look for its secrets and its access: npx a2a-edge deploy --dry-run$/);
  assert.match(of("card"), /^wrong: The card of assistant leads clients to https:\/\/agents\.example\.com\/, and not to http:\/\/127\.0\.0\.1:\d+: set PUBLIC_URL/);
  assert.match(of("webhook"), /^untried: The webhook was not taken\. assistant refuses: /);
  assert.equal(of("console"), "untried: The server has no console: wrangler.toml has no [assets].");
  assert.match(of("send"), /^ok/);
  const broken = await findings(operator, worker.url, ["--agent", "club"]);
  assert.deepEqual([broken.code, broken.of("key"), broken.of("send")], [1, "untried: club is not set up correctly, so nothing else of it was tried.", ""]);
  await worker.stop();
  operator.remove();
});

test("a server whose only agent takes keys is its own receiver, too, and keeps no webhook in trouble", async () => {
  const worker = await startWorker({ vars: { ...SECRETS, AGENTS: agentsFor("guarded") } });
  const operator = new Operator(worker.url);
  const env = { A2A_EDGE_KEY: SECRETS.KEY_OPS };
  const { code, of } = await findings(operator, worker.url, [], { env });
  assert.deepEqual([code, of("webhook")], [0, `ok: The notification has reached ${worker.url}/guarded.`]);
  const troubled = () => operator.run(["webhooks", "--agent", "guarded", "--json"], { env });
  await until(troubled, ({ stdout }) => stdout === "");
  await worker.stop();
  operator.remove();
});

describe("a server in place of a deployment", () => {
  const operator = new Operator("http://127.0.0.1");
  after(() => operator.remove());
  const QUICK = { env: { A2A_EDGE_TIMEOUT_MS: "600" } };
  const task = { id: "t-1", contextId: "c-1", status: { state: "TASK_STATE_COMPLETED", timestamp: new Date().toISOString() } };

  /** Tries a server that answers as `answer` says, and else as one that is in order. */
  async function trying(answer: (path: string, method: string, response: ServerResponse) => boolean, args: string[] = []): ReturnType<typeof findings> {
    const server = await standIn((path, response, request) => {
      if (answer(path, request.method ?? "", response)) return;
      if (path === "/console/api/agents") return answerJson(response, { version: "0.6.0", agents: [listed("a", { isDefault: true, capabilities: { streaming: true, pushNotifications: true } })] });
      if (path.endsWith("agent-card.json")) return answerJson(response, { name: "A", supportedInterfaces: [{ url: `${server.url}/a` }] });
      if (path === "/a/message:send") return answerJson(response, { task });
      if (path === "/a/tasks") return answerJson(response, { tasks: [task] });
      if (path.endsWith("/deliveries")) return answerJson(response, { attempts: [{ outcome: "delivered", status: 200 }] });
      if (path === "/a/message:stream") return void response.writeHead(200, { "content-type": "text/event-stream" }).end(`id: 1\ndata: ${JSON.stringify({ task })}\n\n`);
      return answerJson(response, {});
    });
    const result = await findings(operator, server.url, args, QUICK);
    server.close();
    return result;
  }
  const instead = (path: string, value: unknown, status = 200) => (asked: string, _method: string, response: ServerResponse) => {
    if (asked !== path) return false;
    answerJson(response, value, status);
    return true;
  };

  test("that is in order passes", async () => {
    const { code, found } = await trying(() => false);
    assert.deepEqual([code, found.filter(({ outcome }) => outcome !== "ok")], [0, []]);
  });

  test("whose clock is wrong", async () => {
    const { code, of } = await trying((path, _, response) => {
      if (path === "/console/api/agents") response.setHeader("date", new Date(Date.now() - 600_000).toUTCString());
      return false;
    });
    assert.equal(code, 1);
    assert.match(of("clock"), /^wrong: The clocks of the server and of this machine are (?:9 min 59|10 min 0) s apart: set that of this machine/);
  });

  test("whose index lacks tables, or does not take the task", async () => {
    const { of } = await trying(instead("/a/tasks", { error: { message: "the index does not answer" } }, 503));
    assert.match(of("list"), /^wrong: a cannot answer now: the index does not answer\. Try again later\. The index may lack tables: npx a2a-edge wrangler d1 migrations apply DB --remote$/);
    assert.match((await trying(instead("/a/tasks", { tasks: [] }))).of("list"), /^wrong: The index does not list the task after 600 ms\. The index may lack tables/);
  });

  test("whose queue has no consumer, or that cannot call itself", async () => {
    const silent = await trying(instead("/a/tasks/t-1/pushNotificationConfigs/check/deliveries", { attempts: [] }));
    assert.match(silent.of("queue"), /^wrong: No notification was sent within 600 ms: the queue of webhooks has no consumer, or does not reach it\./);
    assert.equal(silent.of("webhook"), "");
    const itself = await trying(instead("/a/tasks/t-1/pushNotificationConfigs/check/deliveries", { attempts: [{ outcome: "givenUp", status: 404 }] }));
    assert.deepEqual([itself.code, itself.of("queue")], [0, "ok: A notification went through the queue, and was sent."]);
    assert.match(itself.of("webhook"), /^untried: The notification was sent to .*, the server itself, which answered with status 404\. Where Cloudflare does not lead a Worker to itself, name a receiver: --webhook URL$/);
  });

  test("that lets anybody in, or any key", async () => {
    const { code, of } = await trying(instead("/console/api/agents", { agents: [listed("a", { ...GUARDED, isDefault: true })] }), []);
    assert.equal(code, 1);
    assert.match(of("key"), /^wrong: a answers without credentials, though its card asks for some\. Deploy again\.\nwrong: a takes a key that nobody has\. Look at \[access\.schemes\.key\]/);
  });

  test("that takes no key for now", async () => {
    const { code, of } = await trying((path, _, response) => {
      if (path === "/console/api/agents") answerJson(response, { agents: [listed("a", { ...GUARDED, isDefault: true })] });
      else if (path === "/a/tasks") answerJson(response, {}, 429);
      else return false;
      return true;
    });
    assert.equal(code, 1);
    assert.match(of("key"), /^untried: a answers a wrong key with status 429: it takes none for now\. Try again later\.\nwrong: a answers you with status 429: /);
  });

  test("whose stream is not one, whose tasks stay, or that answers with anything", async () => {
    assert.match((await trying(instead("/a/message:stream", "no stream"))).of("stream"), /^wrong: The stream of a ended without an event\. Is there a proxy that does not pass streams on\?/);
    const stays = await trying((path, method, response) => method === "DELETE" && instead(path, { error: { message: "no" } }, 500)(path, method, response));
    assert.match(stays.of("cleanup"), /^wrong: a cannot answer now: no\. Try again later\. The task t-1 of a stays\./);
    for (const value of [null, 7, [], { task: null }, { task: { id: 7 } }, { task: { id: "\u001b[31m", status: "x" } }]) {
      const { code, found } = await trying(instead("/a/message:send", value));
      assert.ok(code === 1 && found.length > 0, JSON.stringify(value));
      assert.doesNotMatch(JSON.stringify(found), /\\u001b|at file:/);
    }
  });

  test("that is no server of a2a-edge, or cannot be reached", async () => {
    const server = await standIn((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"));
    assert.equal((await check(operator, server.url)).code, 5);
    server.close();
    const gone = await check(operator, server.url);
    assert.equal(gone.code, 5);
    assert.match(gone.stderr, /cannot be reached \(nothing listens there\)/);
  });
});
