// The allowed targets of webhooks: the guard against calls to hosts that only the server can reach (§13.2).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, logged, type RpcError, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { good, hostile } from "./hostile-urls.ts";

const refused = { code: -32602, fields: ["url"] };

/** A Worker with these variables and a task of its default agent, for registering webhooks. */
class Registry {
  worker!: Worker;
  agent!: Agent;
  task!: Task;
  offered = false;

  async start(vars: Record<string, string>): Promise<void> {
    this.worker = await startWorker({ vars });
    this.agent = new Agent(this.worker.url);
    const card = await fetch(`${this.worker.url}/.well-known/agent-card.json`);
    const { capabilities } = (await card.json()) as { capabilities: { pushNotifications?: boolean } };
    this.offered = capabilities.pushNotifications === true;
    this.task = await this.agent.sendForTask("hello");
  }

  /** Registers a webhook and deletes it again, so that the limit on their number is not reached. */
  async register(url: string): Promise<void> {
    const taskId = this.task.id;
    const { id } = await this.agent.call<{ id: string }>("CreateTaskPushNotificationConfig", { taskId, url });
    await this.agent.call("DeleteTaskPushNotificationConfig", { taskId, id });
  }
}

test("the table gives URLs as the parser normalizes them", () => {
  assert.ok(hostile.length > 100 && good.length > 20);
  for (const { url, parsed } of [...hostile, ...good]) {
    const href = URL.canParse(url) ? new URL(url).href : null;
    assert.equal(href, parsed, JSON.stringify(url));
  }
});

describe("without settings", () => {
  const registry = new Registry();
  before(() => registry.start({ DEVELOPMENT: "false" }));
  after(() => registry.worker.stop());

  test("no hostile URL is taken, in whatever notation (§13.2)", async (t) => {
    if (!registry.offered) return t.skip("the card declares no push notifications");
    for (const { url, why } of hostile) {
      await assert.rejects(registry.register(url), refused, `${JSON.stringify(url)}: ${why}`);
    }
  });

  test("good URLs are taken (§3.1.7)", async (t) => {
    if (!registry.offered) return t.skip("the card declares no push notifications");
    for (const { url } of good) await registry.register(url);
  });

  test("a refusal says what would be right, and repeats no password", async (t) => {
    if (!registry.offered) return t.skip("the card declares no push notifications");
    await assert.rejects(registry.register("http://hooks.example.com/"), /must begin with https:/);
    await assert.rejects(registry.register("https://me:hush@hooks.example.com/"), (error: RpcError) => !error.message.includes("hush"));
  });
});

for (const { title, vars, taken, notTaken } of [
  {
    title: "in development loopback is open, also by http, and nothing else",
    vars: { DEVELOPMENT: "true" },
    taken: ["http://127.0.0.1:8080/", "http://localhost:3000/", "http://[::1]:3000/", "https://hooks.example.com/"],
    notTaken: ["https://hooks.test/", "http://hooks.example.com/", "http://10.0.0.1/", "https://192.168.0.1/", "http://0.0.0.0:8080/", "http://me@localhost:3000/"],
  },
  {
    title: "WEBHOOK_ALLOW_PRIVATE opens private hosts and http, but not credentials in URLs",
    vars: { DEVELOPMENT: "false", WEBHOOK_ALLOW_PRIVATE: "true" },
    taken: ["http://127.0.0.1:8080/", "http://10.0.0.1/", "http://hooks:8080/", "https://[fd00::1]/"],
    notTaken: ["http://me:hush@10.0.0.1/", "ftp://10.0.0.1/", "http://10.0.0.1:25/"],
  },
  {
    title: "WEBHOOK_HOSTS closes all other hosts, and opens none",
    vars: { DEVELOPMENT: "false", WEBHOOK_HOSTS: "hooks.example.com, *.example.org, 10.0.0.1" },
    taken: ["https://hooks.example.com/", "https://HOOKS.example.com.:8443/", "https://a.b.example.org/"],
    notTaken: ["https://example.com/", "https://a.hooks.example.com/", "https://example.org/", "https://evilexample.org/", "https://10.0.0.1/"],
  },
]) {
  test(`${title} (§13.2)`, async (t) => {
    const registry = new Registry();
    await registry.start(vars);
    try {
      if (!registry.offered) return t.skip("the card declares no push notifications");
      for (const url of taken) await registry.register(url);
      for (const url of notTaken) await assert.rejects(registry.register(url), refused, url);
    } finally {
      await registry.worker.stop();
    }
  });
}

test("WEBHOOK_HOSTS with a star below a top domain is no setting (§13.2)", async () => {
  for (const hosts of ["*.com", "hooks.example.com, *.co.uk", "*.test"]) {
    const worker = await startWorker({ vars: { DEVELOPMENT: "false", WEBHOOK_HOSTS: hosts } });
    try {
      const card = await fetch(`${worker.url}/.well-known/agent-card.json`);
      assert.equal(card.status, 500, hosts);
      await logged(worker, /WEBHOOK_HOSTS must be a list in which a star/);
    } finally {
      await worker.stop();
    }
  }
});
