// Who may have agents elsewhere called by way of the console, where, and how much comes back: the route is nobody's proxy.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { bearer, caller, errorOf, secretsOf, type Headers } from "./access.ts";
import { framesOf, post, reasonOf, say, told } from "./elsewhere-call.ts";
import { cardOf } from "./fronts.ts";
import { secret, startWorker, type Worker } from "./harness.ts";
import { only } from "./mcp.ts";
import { logged, until } from "./client.ts";

const { ALICE } = secretsOf("ALICE");
const KEY = secret("REMOTE_KEY", "a-key-for-an-agent-elsewhere");
const token = { kind: "bearer", callers: [caller("alice", ["ALICE"])] };

let server: Server;
/** Tells that a stream of the server was left. */
let left = false;
let origin: string;
/** What came to the server: path and headers. */
const asked: [string, Headers][] = [];
let development: Worker;
let deployed: Worker;
let limited: Worker;
before(async () => {
  server = createServer((request, response) => {
    const [, name = "", ...rest] = (request.url ?? "").split("/");
    asked.push([request.url ?? "", request.headers as Headers]);
    const json = (body: unknown): void => void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (rest[0] === ".well-known") {
      if (name === "html") return void response.writeHead(200, { "content-type": "text/html", "set-cookie": "a=b" }).end("<script>alert(1)</script>");
      if (name === "inward") return void response.writeHead(302, { location: "http://10.0.0.1/card.json" }).end();
      if (name === "huge") return void response.writeHead(200).end(Buffer.alloc(3_000_000, 32));
      return json(cardOf(`${origin}/${name}/rpc`));
    }
    if (name === "echo") return json({ jsonrpc: "2.0", id: "1", result: { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: `you showed ${request.headers["x-key"]} <img src=x onerror=alert(1)>` }] } } });
    if (name === "page") return void response.writeHead(200, { "content-type": "text/html" }).end("<script>alert(1)</script>");
    if (name === "moved") return void response.writeHead(307, { location: "http://127.0.0.2:1/" }).end();
    if (name === "flood") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const task = { task: { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } } };
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: "1", result: task })}\n\n`);
      const comment = `: ${"x".repeat(500_000)}\n\n`;
      const more = (): void => void (response.destroyed || response.write(comment, () => setImmediate(more)));
      return more();
    }
    if (name === "endless") {
      response.on("close", () => (left = true));
      const task = { task: { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } } };
      return void response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: "1", result: task })}\n\n`);
    }
    response.writeHead(404).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const AGENTS = only({ open: { of: "double", development: false, access: { open: true } }, closed: { of: "double", development: false, access: { schemes: { token } } } });
  const vars = { AGENTS, ALICE };
  development = await startWorker({ vars });
  deployed = await startWorker({ vars: { ...vars, DEVELOPMENT: "false", WEBHOOK_ALLOW_PRIVATE: "false", MAX_BODY_BYTES: "65536" } });
  const guarded = only({ closed: { of: "double", development: false, access: { schemes: { token }, rate_limits: [{ binding: "FEW", by: "caller", period_s: 60 }] } } });
  limited = await startWorker({ vars: { AGENTS: guarded, ALICE, DEVELOPMENT: "false", CONSOLE_REMOTES: "agents.example" }, rateLimits: { FEW: { limit: 3, period: 60 } } });
});
after(async () => {
  await Promise.all([development?.stop(), deployed?.stop(), limited?.stop()]);
  server.closeAllConnections();
  server.close();
});

const card = (name: string) => ({ url: `${origin}/${name}`, method: "GetAgentCard" });

describe("the route of agents elsewhere", () => {
  test("is for callers whom an agent of the Worker knows", async () => {
    const anonymous = await post(deployed, card("plain"));
    assert.equal(anonymous.status, 401);
    assert.match(errorOf(anonymous).message, /sign in to an agent of this server/);
    assert.equal(anonymous.headers["www-authenticate"], undefined, "no browser asks by itself");
    const wrong = await post(deployed, card("plain"), bearer("wrong"));
    assert.equal(wrong.status, 401);
    const known = await post(deployed, card("plain"), bearer(ALICE));
    assert.equal(known.status, 200);
    assert.equal((await post(development, card("plain"))).status, 200, "anybody at this machine, in development");
    const named = await post(development, card("plain"), { host: "evil.example:8787" });
    assert.equal(named.status, 401, "a page that has given its name to this machine");
  });

  test("is not for pages of other sites, whoever has opened them", async () => {
    const alice = bearer(ALICE);
    for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }, { "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }] as Headers[]) {
      for (const worker of [development, deployed]) {
        const refused = await post(worker, card("plain"), { ...alice, ...headers });
        assert.equal(refused.status, 403, JSON.stringify(headers));
      }
    }
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      assert.equal((await post(deployed, card("plain"), { ...alice, "content-type": type })).status, 415, type);
    }
    const preflight = await fetch(`${deployed.url}/console/api/remote`, { method: "OPTIONS", headers: { origin: "https://evil.example", "access-control-request-method": "POST" } });
    assert.equal(preflight.ok, false);
    const own = await post(deployed, card("plain"), { ...alice, origin: deployed.url, "sec-fetch-site": "same-origin" });
    assert.equal(own.status, 200);
    assert.deepEqual([own.headers["access-control-allow-origin"], own.headers["cross-origin-resource-policy"], own.headers["cache-control"]], [undefined, "same-origin", "no-store"]);
  });

  test("goes to no private address outside of development, and follows no redirect there", async () => {
    const before = asked.length;
    for (const url of [origin, "http://agents.example/", "https://10.0.0.1/", "https://localhost/", "https://[::1]/", "https://169.254.169.254/latest", "https://user:pass@agents.example/"]) {
      const answer = await told(deployed, { url, method: "GetAgentCard" }, bearer(ALICE));
      assert.match(reasonOf(answer) ?? "", /REMOTE_NOT_(ALLOWED|CALLED)/, `${url}: ${JSON.stringify(answer)}`);
    }
    assert.equal(asked.length, before, "nothing was asked");
    const inward = await told(development, card("inward"));
    assert.match(inward.error?.message ?? "", /redirects to another host, http:\/\/10\.0\.0\.1/);
    const moved = await told(development, { url: `${origin}/moved`, method: "SendMessage", params: say("x") });
    assert.match(moved.error?.message ?? "", /redirect to http:\/\/127\.0\.0\.2:1, which is another host/);
  });

  test("calls methods of A2A alone, with headers that are the person's to give", async () => {
    for (const body of [{ url: origin }, { url: "x", method: "GetAgentCard" }, { url: origin, method: "GET" }, { ...card("plain"), headers: { Host: "evil.example" } }, { ...card("plain"), headers: { "X-Forwarded-For": "1.1.1.1" } },
      { url: `${origin}/x`, method: "GetTask", params: { id: "t" }, interface: { url: "http://127.0.0.2/", protocolBinding: "JSONRPC", protocolVersion: "1.0", streams: true } }]) {
      const refused = await post(development, body);
      assert.ok([400, 404].includes(refused.status), `${JSON.stringify(body)}: ${refused.status} ${refused.text}`);
    }
    assert.equal((await post(development, "{")).status, 400);
    assert.equal((await post(deployed, `{"url":"${"x".repeat(65_536)}"}`, bearer(ALICE))).status, 413);
  });

  test("tells neither the bodies nor the types of others as they are, and no secrets", async () => {
    for (const name of ["html", "page"]) {
      const answer = await post(development, { url: `${origin}/${name}`, method: "SendMessage", params: say("x"), wire: true });
      assert.equal(answer.status, 200);
      assert.match(String(answer.headers["content-type"]), /^application\/json/);
      assert.deepEqual([answer.headers["set-cookie"], answer.headers["x-content-type-options"]], [undefined, "nosniff"]);
      assert.ok(JSON.parse(answer.text).error !== undefined);
    }
    const echo = await post(development, { url: `${origin}/echo?key=${KEY}`, method: "SendMessage", params: say("x"), headers: { "X-Key": KEY }, wire: true });
    assert.ok(!echo.text.includes(KEY), echo.text);
    assert.match(JSON.parse(echo.text).result.message.parts[0].text, /^you showed \[x-key\] <img/);
    assert.equal(asked.at(-1)?.[1]["x-key"], KEY);
    assert.ok(!development.logs.some(({ message }) => message.includes(KEY)));
  });

  test("receives ten megabytes at most", async () => {
    const huge = await told(development, card("huge"));
    assert.equal(reasonOf(huge), "REMOTE_TOO_LARGE");
    const frames = await framesOf(development, { url: `${origin}/flood`, method: "SendStreamingMessage", params: say("x") });
    assert.equal(frames[0]?.data.result.task.id, "t");
    assert.equal(frames.at(-1)?.data.error.data[0].reason, "REMOTE_TOO_LARGE", JSON.stringify(frames.at(-1)));
    assert.match(frames.at(-1)?.data.error.message, /more than 10000000 bytes/);
  });

  test("ends its exchange with the agent when the client leaves", async () => {
    await framesOf(development, { url: `${origin}/endless`, method: "SendStreamingMessage", params: say("x") }, {}, ({ data }) => data.result?.task !== undefined);
    await until(async () => left, (hasLeft) => hasLeft);
  });

  test("heeds the operator's list of hosts and the rate limits of the agent, and tells audits where it went", async () => {
    const refused = await post(limited, card("plain"), bearer(ALICE));
    assert.equal(refused.status, 403);
    assert.match(errorOf(refused).message, /CONSOLE_REMOTES/);
    await told(deployed, { url: "https://10.0.0.1/agent?key=x", method: "ListTasks" }, bearer(ALICE));
    const line = await logged(deployed, /remote agent called.*"operation":"ListTasks"/);
    assert.deepEqual(
      (({ event, agent, caller, operation, remote }) => ({ event, agent, caller, operation, remote }))(JSON.parse(line) as Record<string, unknown>),
      { event: "remote agent called", agent: "closed", caller: "token:alice", operation: "ListTasks", remote: "https://10.0.0.1" },
    );
    // The emulation counts anew with each minute, which may begin meanwhile.
    await until(() => post(limited, card("plain"), bearer(ALICE)), ({ status }) => status === 429);
    const catalogue = async (worker: Worker) => ((await (await fetch(`${worker.url}/console/api/agents`)).json()) as { remotes: string }).remotes;
    assert.deepEqual([await catalogue(development), await catalogue(deployed)], ["anybody", "known"]);
  });
});
