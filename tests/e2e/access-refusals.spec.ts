// The answers to refused callers: in both bindings, in place of a stream, for a large body, and by agents with unusable files
// or secrets.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { after, before, describe, test } from "node:test";
import { bearer, caller, errorOf, guarded, openWitness, read, rpc, secretsOf, send, whoAmI, type Answer, type Headers } from "./access.ts";
import { logged, message } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import type { AgentServer } from "./http-agents.ts";

const secrets = secretsOf("BILLING_KEY", "ROBOT_TOKEN", "PAGE_KEY");
const key = { kind: "api_key", name: "X-Api-Key", callers: [caller("billing", ["BILLING_KEY"], { permissions: ["read"] })] };
const token = { kind: "bearer", callers: [caller("robot", ["ROBOT_TOKEN"])] };
const cookie = { kind: "api_key", in: "cookie", name: "session", callers: [caller("page", ["PAGE_KEY"])] };

let witness: AgentServer;
let worker: Worker;
before(async () => {
  witness = await openWitness();
  const AGENTS = guarded({
    key: { schemes: { key } },
    both: { schemes: { key, token } },
    scoped: { schemes: { key }, requires: [{ key: ["read", "write"] }] },
    page: { schemes: { cookie, token }, allowed_origins: ["https://app.example"] },
    silent: {},
    "short-secret": { schemes: { key: { ...key, callers: [caller("billing", ["SHORT_KEY"])] } } },
  }, witness.url);
  worker = await startWorker({ vars: { DEVELOPMENT: "false", AGENTS, ...secrets, SHORT_KEY: "s-h-o-r-t" } });
});
after(async () => {
  await worker.stop();
  witness.close();
});

const send_ = { message: message("hello") };

describe("a refusal has the status 401 or 403, says why, and answers the request's id (§7.4, §9.5, §11.6)", () => {
  const rows: [what: string, agent: string, headers: Headers, status: number, reason: string, message: RegExp, challenge: RegExp][] = [
    ["no credentials", "both", {}, 401, "UNAUTHENTICATED", /^credentials are needed: a token, as "Authorization: Bearer …", or a key in the header x-api-key$/, /^Bearer realm="both", ApiKey realm="both", in="header", name="x-api-key"$/],
    ["a wrong token", "both", bearer("wrong"), 401, "UNAUTHENTICATED", /^the credentials are refused: the token is not known$/, /^Bearer realm="both", error="invalid_token", error_description="the token is not known", ApiKey/],
    ["a wrong key", "key", { "x-api-key": "wrong" }, 401, "UNAUTHENTICATED", /^the credentials are refused: the key is not known$/, /^ApiKey realm="key"/],
    ["a scope that is missing", "scoped", { "x-api-key": secrets.BILLING_KEY }, 403, "PERMISSION_DENIED", /these scopes are needed: write$/, /^undefined$/],
    ["a page of another origin", "page", { cookie: `session=${secrets.PAGE_KEY}`, origin: "https://evil.example" }, 403, "PERMISSION_DENIED", /count only in requests of pages of the agent's own origin/, /^undefined$/],
  ];
  for (const [what, agent, headers, status, reason, expected, challenge] of rows) {
    test(what, async () => {
      const url = `${worker.url}/${agent}`;
      for (const method of ["SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CreateTaskPushNotificationConfig"]) {
        for (const id of [7, "a", null]) {
          const answer = await rpc(url, method, method.startsWith("Send") ? send_ : { id: "t" }, { accept: "text/event-stream", ...headers }, id);
          const error = errorOf(answer);
          assert.deepEqual([answer.status, answer.type, error.code, error.id], [status, "application/json", -32000, id], method);
          assert.match(error.message, expected);
          assert.match(String(answer.challenge), challenge);
        }
      }
      for (const [verb, path] of [["POST", "message:send"], ["POST", "message:stream"], ["GET", "tasks"], ["GET", "tasks/t"], ["GET", "tasks/t:subscribe"]] as const) {
        const body = verb === "POST" ? JSON.stringify(send_) : undefined;
        const answer = await send(`${url}/${path}`, verb, { "content-type": "application/json", ...headers }, body);
        const { error } = JSON.parse(answer.text) as { error: { code: number; status: string; message: string; details: { reason: string }[] } };
        assert.deepEqual([answer.status, error.code, error.status, error.details[0]?.reason], [status, status, reason, reason], path);
        assert.match(error.message, expected);
        assert.match(String(answer.challenge), challenge);
      }
    });
  }

  test("the card needs no credentials", async () => {
    const card = await fetch(`${worker.url}/key/.well-known/agent-card.json`);
    assert.equal(card.status, 200);
  });

  test("at / the agent that `tenant` names decides", async () => {
    const asked = (headers: Headers): Promise<Answer> => rpc(worker.url, "SendMessage", { tenant: "key", message: message("hello") }, headers);
    assert.equal((await asked({})).status, 401);
    assert.match((await asked({ "x-api-key": secrets.BILLING_KEY })).text, /key:billing/);
    assert.equal((await rpc(worker.url, "SendMessage", { message: message("hello") })).status, 200, "the default agent is open");
  });
});

describe("a large body", () => {
  /** Sends the first half of a body and waits for the answer. */
  async function half(agent: string, headers: Headers): Promise<Answer> {
    const all = { "content-type": "application/json", "a2a-version": "1.0", "transfer-encoding": "chunked", ...headers };
    const sent = request(`${worker.url}/${agent}`, { method: "POST", headers: all, agent: false });
    sent.on("error", () => undefined);
    sent.write(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"${"x".repeat(100_000)}`);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const answer = await read(response);
    sent.destroy();
    return answer;
  }

  test("is not waited for where the head is refused already", async () => {
    for (const headers of [{}, { "x-api-key": "wrong" }]) {
      const answer = await half("key", headers);
      assert.deepEqual([answer.status, errorOf(answer).id], [401, null]);
    }
  });

  test("is taken from a caller who is let in", async () => {
    const big = message("x".repeat(100_000));
    const answer = await rpc(`${worker.url}/key`, "SendMessage", { message: big }, { "x-api-key": secrets.BILLING_KEY });
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
  });
});

describe("cookies in requests of browsers", () => {
  const session = { cookie: `session=${secrets.PAGE_KEY}` };
  const own = (): string => worker.url;
  const rows: [what: string, headers: () => Headers, who: string][] = [
    ["no browser", () => ({}), "cookie:page []"],
    ["a page of the own origin", () => ({ origin: own(), "sec-fetch-site": "same-origin" }), "cookie:page []"],
    ["a page of a listed origin", () => ({ origin: "https://app.example", "sec-fetch-site": "cross-site" }), "cookie:page []"],
    ["a page of another origin", () => ({ origin: "https://evil.example", "sec-fetch-site": "cross-site" }), "403"],
    ["a page that hides its origin", () => ({ origin: "null" }), "403"],
    ["a page whose origin is not told", () => ({ "sec-fetch-site": "cross-site" }), "403"],
    ["a page of a neighbouring host whose origin is not told", () => ({ "sec-fetch-site": "same-site" }), "403"],
    ["a page of a neighbouring host whose origin is empty", () => ({ "sec-fetch-site": "same-site", origin: "" }), "403"],
    // workerd drops an empty `Origin`, although it passes other empty headers on.
    ["no browser, with an origin that is empty", () => ({ origin: "" }), "cookie:page []"],
    ["a page that says an empty place", () => ({ "sec-fetch-site": "" }), "403"],
    ["an origin that only begins like a listed one", () => ({ origin: "https://app.example.evil.example" }), "403"],
    ["a page of another origin with a token of its own", () => ({ origin: "https://evil.example", ...bearer(secrets.ROBOT_TOKEN) }), "token:robot []"],
  ];
  for (const [what, headers, who] of rows) {
    test(`${what}: ${who}`, async () => {
      assert.equal(await whoAmI(`${worker.url}/page`, { ...session, ...headers() }), who);
    });
  }

  test("a body that is not declared as JSON is refused", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: send_ });
    const untyped = await send(`${worker.url}/page`, "POST", session, body);
    assert.deepEqual([untyped.status, errorOf(untyped).message], [403, "a request with a cookie must have the content type application/json"]);
    const form = await send(`${worker.url}/page`, "POST", { ...session, "content-type": "text/plain" }, body);
    assert.equal(errorOf(form).code, -32005);
    const without = await send(`${worker.url}/page`, "POST", bearer(secrets.ROBOT_TOKEN), body);
    assert.equal(without.status, 200, "with a token it may be left out");
  });
});

describe("outside of development", () => {
  for (const [agent, cause] of [["silent", /nothing says who may call: describe a scheme in \[access.schemes.<name>\]/], ["short-secret", /the secret SHORT_KEY has 9 bytes, and needs 16/]] as const) {
    test(`the agent ${agent} answers no call, and the log says why`, async () => {
      const called = await rpc(`${worker.url}/${agent}`, "SendMessage", send_, { "x-api-key": "s-h-o-r-t" });
      assert.match(errorOf(called).message, /is not set up correctly; the log says why/);
      const listed = await send(`${worker.url}/${agent}/tasks`, "GET", {});
      assert.equal(listed.status, 500);
      await logged(worker, cause);
      assert.ok(worker.logs.every(({ message }) => !message.includes("s-h-o-r-t")));
    });
  }

  test("the agents of a fresh clone are closed, and their cards are served", async (t) => {
    const closed = await startWorker({ vars: { DEVELOPMENT: "false", AGENTS: JSON.stringify(without(JSON.parse(testAgents))) } });
    t.after(() => closed.stop());
    assert.match(errorOf(await rpc(`${closed.url}/demo`, "SendMessage", send_)).message, /is not set up correctly/);
    assert.equal((await fetch(`${closed.url}/demo/.well-known/agent-card.json`)).status, 200);
  });

  test("an agent that is open answers anybody, and the log says so", async (t) => {
    const open = await startWorker({ vars: { DEVELOPMENT: "false" } });
    t.after(() => open.stop());
    assert.ok("result" in JSON.parse((await rpc(`${open.url}/demo`, "SendMessage", send_)).text));
    await logged(open, /anybody may call these agents: .*\bdemo\b/);
  });
});

function without(built: { agents: { access?: object }[] }): object {
  return { ...built, agents: built.agents.map(({ access: _, ...agent }) => agent) };
}
