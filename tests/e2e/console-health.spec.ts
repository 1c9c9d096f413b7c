// The availability of things that an agent needs outside of the Worker: `GET /console/api/agents/<slug>/health`.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { after, before, describe, test } from "node:test";
import { freePort } from "../../scripts/lib/port.mjs";
import { caller, secretsOf } from "./access.ts";
import { until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { withHttpAgents } from "./http-agents.ts";

const { ALICE } = secretsOf("ALICE");
const SECRET = "/s3cret?key=s3cret";
const OK = { state: "ok" };

interface Health { state: string; reason?: string; outside?: boolean }

/** A program behind an agent: its requests, and its port, which stays the same while it is stopped. */
class Program {
  readonly asked: string[] = [];
  port: number | undefined;
  #server: Server | undefined;

  /** Starts the program, which answers with this status, or never. */
  async start(status?: number): Promise<this> {
    this.#server = createServer((request: IncomingMessage, response) => {
      this.asked.push(`${request.method} ${request.url}`);
      if (status !== undefined) response.writeHead(status).end();
    });
    this.port ??= await freePort();
    await once(this.#server.listen(this.port, "127.0.0.1"), "listening");
    return this;
  }

  async stop(): Promise<this> {
    this.#server?.closeAllConnections();
    if (this.#server?.listening === true) await once(this.#server.close(), "close");
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}${SECRET}`;
  }
}

let up: Program, down: Program, silent: Program;
let development: Worker, deployed: Worker;
before(async () => {
  [up, down, silent] = await Promise.all([new Program().start(501), new Program().start(200), new Program().start()]);
  await down.stop();
  const tables = { up: { url: up.url }, down: { url: "${DOWN}" }, silent: { url: silent.url }, guarded: { url: up.url }, bound: { service: "WORDS" }, unbound: { service: "NONE" }, unset: { url: "${NOT_SET}" } };
  const embedded = JSON.parse(withHttpAgents(tables)) as { agents: { slug: string; access: object }[] };
  const guarded = embedded.agents.find(({ slug }) => slug === "guarded")!;
  guarded.access = { schemes: { key: { kind: "bearer", callers: [caller("alice", ["ALICE"])] } } };
  const options = { vars: { AGENTS: JSON.stringify(embedded), DOWN: down.url, ALICE }, services: { WORDS: "export default { fetch: () => new Response('up') };" } };
  development = await startWorker(options);
  deployed = await startWorker({ ...options, vars: { ...options.vars, DEVELOPMENT: "false", PUBLIC_URL: "https://agents.example" } });
});
after(async () => {
  await Promise.all([development?.stop(), deployed?.stop()]);
  await Promise.all([up, down, silent].map((program) => program?.stop()));
});

const ask = (worker: Worker, slug: string, init: RequestInit = {}) => fetch(`${worker.url}/console/api/agents/${slug}/health`, init);
const health = async (worker: Worker, slug: string, init: RequestInit = {}): Promise<Health> => (await (await ask(worker, slug, init)).json()) as Health;

describe("the health of an agent", () => {
  test("is that of its program: any answer means that it runs", async () => {
    assert.deepEqual(await health(development, "up"), OK);
    assert.ok(up.asked.every((request) => request === `HEAD ${SECRET}`), String(up.asked));
    const { state, reason } = await health(development, "down");
    assert.equal(state, "down");
    assert.match(reason ?? "", new RegExp(`^its program at http://127\\.0\\.0\\.1:${down.port} refused the connection, or was not found: start it, or correct .url. in the agent's file$`));
    const late = await health(development, "silent");
    assert.equal(late.state, "silent");
    assert.match(late.reason ?? "", /said nothing for 2500 ms/);
  });

  test("is that of its binding, which is looked up and not asked", async () => {
    assert.deepEqual(await health(development, "bound"), OK);
    const { state, reason } = await health(development, "unbound");
    assert.equal(state, "unbound");
    assert.match(reason ?? "", /no service binding "NONE": add \[\[services\]\] with binding = "NONE"/);
    assert.match((await health(development, "unset")).reason ?? "", /NOT_SET/);
    assert.deepEqual(await health(development, "demo"), OK, "an agent that needs nothing");
  });

  test("is told to callers whom the agent lets in, without its URL", async () => {
    assert.equal((await ask(deployed, "guarded")).status, 401);
    assert.deepEqual(await health(deployed, "guarded", { headers: { authorization: `Bearer ${ALICE}` } }), OK);
    for (const slug of ["down", "silent"]) assert.doesNotMatch(JSON.stringify(await health(deployed, slug)), /s3cret|127\.0\.0\.1/);
    assert.doesNotMatch(JSON.stringify(await health(development, "down")), /s3cret/);
    assert.equal((await ask(deployed, "nobody")).status, 404);
    assert.equal((await ask(deployed, "up", { method: "POST" })).status, 405);
  });

  test("is remembered for some seconds, and then asked for anew", async () => {
    up.asked.length = 0;
    await health(deployed, "up");
    const asked = up.asked.length;
    for (let count = 0; count < 10; count++) await health(deployed, "up");
    assert.ok(asked <= 1 && up.asked.length <= 2, String(up.asked));
    assert.equal((await health(development, "down")).state, "down");
    await down.start(404);
    assert.deepEqual(await until(() => health(development, "down"), ({ state }) => state !== "down"), OK);
  });

  test("is not in the list, which says of whom it is asked", async () => {
    const { agents } = (await (await fetch(`${deployed.url}/console/api/agents`)).json()) as { agents: { slug: string; health: Health }[] };
    const of = (slug: string) => agents.find((agent) => agent.slug === slug)?.health;
    for (const slug of ["up", "down", "unbound", "unset"]) assert.deepEqual(of(slug), { state: "ok", outside: true }, slug);
    assert.deepEqual(of("demo"), OK);
  });
});
