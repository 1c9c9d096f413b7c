// The pages that may call an agent and read its answers: `allowed_origins` of its table [access].
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { KEYS, KEY_SCHEME, withAccess } from "./tables.ts";
import { message } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

const APP = "https://app.example";
const EVIL = "https://evil.example";

let worker: Worker;
before(async () => {
  const pages = { open: true, open_listing: true, allowed_origins: [APP, "http://localhost:3000"] };
  const locked = { schemes: { key: KEY_SCHEME }, allowed_origins: [APP] };
  worker = await startWorker({ vars: { ...KEYS, AGENTS: withAccess({ pages, locked }) } });
});
after(() => worker.stop());

const JSON_HEADERS = { "content-type": "application/json", "a2a-version": "1.0" };
const rpc = (method: string, params: unknown): RequestInit => ({ method: "POST", headers: JSON_HEADERS, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) });
const send = (text: string, method = "SendMessage"): RequestInit => rpc(method, { message: message(text) });

/**
 * Requests of every kind: answered by a plan, by an object, by D1, by a stream, or after waiting, and the refusal of
 * each.
 */
const requests: [string, string, RequestInit, number][] = [
  ["a preflight", "", { method: "OPTIONS", headers: { "access-control-request-method": "POST", "access-control-request-headers": "x-api-key, content-type" } }, 204],
  ["a preflight of HTTP+JSON", "/message:send", { method: "OPTIONS" }, 204],
  ["a task of an object", "", send("hello"), 200],
  ["a listing of D1", "", rpc("ListTasks", {}), 200],
  ["a listing with artifacts, which waits", "", rpc("ListTasks", { includeArtifacts: true }), 200],
  ["a large body, which waits", "", send("x".repeat(70_000)), 200],
  ["a stream", "", send("hello", "SendStreamingMessage"), 200],
  ["a stream that is refused", "", rpc("SubscribeToTask", { id: "0".repeat(64) }), 200],
  ["a task that there is not", "/tasks/none", { headers: { "a2a-version": "1.0" } }, 404],
  ["a wrong content type", "/message:send", { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" }, 415],
  ["a body that is not JSON", "", { method: "POST", headers: JSON_HEADERS, body: "{" }, 200],
  ["the page", "", { headers: { accept: "text/html" } }, 200],
];

async function ask(agent: string, path: string, init: RequestInit, origin?: string): Promise<Response> {
  const headers = { ...(init.headers as Record<string, string>), ...(origin === undefined ? {} : { origin }) };
  const response = await fetch(`${worker.url}/${agent}${path}`, { ...init, headers });
  await response.text();
  return response;
}

const varies = (response: Response): string[] => (response.headers.get("vary") ?? "").split(",").map((name) => name.trim().toLowerCase());
const cors = (response: Response): string[] => [...response.headers.keys()].filter((name) => name.startsWith("access-control-"));

describe("an agent that names the origins of its pages", () => {
  for (const [what, path, init, status] of requests) {
    test(`${what}: a listed origin is told by itself, with credentials; any other not at all`, async () => {
      for (const origin of [APP, "http://localhost:3000"]) {
        const listed = await ask("pages", path, init, origin);
        assert.equal(listed.status, status);
        assert.equal(listed.headers.get("access-control-allow-origin"), origin);
        assert.equal(listed.headers.get("access-control-allow-credentials"), "true");
        const methods = listed.headers.get("access-control-allow-methods") ?? "";
        if (init.method === "OPTIONS") assert.match(methods, /POST/);
        else assert.equal(methods, "", "browsers read it in the answers to preflights alone");
        assert.ok(varies(listed).includes("origin"), String(listed.headers.get("vary")));
      }
      for (const origin of [undefined, EVIL, "null", `${APP}.evil.example`, `${APP}:444`, "http://app.example", "HTTPS://APP.EXAMPLE", "*", `${APP}, ${EVIL}`]) {
        const other = await ask("pages", path, init, origin);
        assert.equal(other.status, status, "it is a browser that keeps pages away");
        assert.deepEqual(cors(other), [], `${origin}`);
        assert.ok(varies(other).includes("origin"), String(other.headers.get("vary")));
      }
    });
  }

  test("so are refusals of credentials, and what a page may send is told to listed ones alone", async () => {
    for (const init of [send("hello"), send("hello", "SendStreamingMessage")]) {
      const [listed, other] = [await ask("locked", "", init, APP), await ask("locked", "", init, EVIL)];
      assert.deepEqual([listed.status, other.status], [401, 401]);
      assert.equal(listed.headers.get("access-control-allow-origin"), APP);
      assert.match(listed.headers.get("access-control-expose-headers") ?? "", /WWW-Authenticate/);
      assert.deepEqual(cors(other), []);
    }
    const preflight = await ask("locked", "", requests[0]?.[2] ?? {}, APP);
    assert.equal(preflight.headers.get("access-control-allow-headers"), "x-api-key, content-type");
  });

  test("its card is public: pages of all origins may read it, without credentials (§8.2)", async () => {
    for (const origin of [APP, EVIL, undefined]) {
      const card = await ask("pages", "/.well-known/agent-card.json", {}, origin);
      assert.equal(card.headers.get("access-control-allow-origin"), "*");
      assert.equal(card.headers.get("access-control-allow-credentials"), null);
    }
  });

  test("a call that names it as its tenant is judged by its origins", async () => {
    const params = { tenant: "pages", message: message("hello") };
    for (const [origin, allowed] of [[APP, APP], [EVIL, null]] as const) {
      const answer = await fetch(worker.url, { ...rpc("SendMessage", params), headers: { ...JSON_HEADERS, origin } });
      assert.equal(answer.headers.get("access-control-allow-origin"), allowed);
      await answer.text();
    }
  });
});

describe("any other agent", () => {
  for (const [what, path, init, status] of requests) {
    test(`${what}: pages of all origins may read it, without credentials`, async () => {
      for (const origin of [undefined, EVIL]) {
        const answer = await ask("demo", path, init, origin);
        assert.equal(answer.status, status);
        assert.equal(answer.headers.get("access-control-allow-origin"), "*");
        assert.equal(answer.headers.get("access-control-allow-credentials"), null);
        assert.ok(!varies(answer).includes("origin"));
        assert.equal(answer.headers.get("x-content-type-options"), "nosniff", "no browser guesses what it is");
      }
    });
  }
});
