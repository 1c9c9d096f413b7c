// What development does for pages of the console: the forwarder (`POST /_dev/forward`, dev/forward.js) with the forwarded requests and the allowed pages, and
// the end of the server (`POST /_dev/kill`, dev/kill.js). A deployment has neither, and never calls a URL of a visitor.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as send, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { read, type Headers } from "./access.ts";
import { until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { freePort } from "../../scripts/lib/port.mjs";

let development: Worker;
let deployed: Worker;
let origin: string;
let hasLeft = false;
const received: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[] = [];

const server = createServer(async (request, response) => {
  const { text } = await read(request);
  received.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body: text });
  switch (request.url) {
    case "/page":
      return void response.writeHead(404, { "content-type": "text/html", "set-cookie": "a=b", "www-authenticate": "Bearer" }).end("<script>alert(1)</script>");
    case "/moved":
      return void response.writeHead(302, { location: "/landed" }).end();
    case "/away":
      return void response.writeHead(302, { location: "http://127.0.0.2:1/" }).end();
    case "/round":
      return void response.writeHead(302, { location: "/round" }).end();
    case "/endless": {
      // The runtime notices a disconnected client when it passes the next piece on.
      const beat = setInterval(() => response.write("data: one\n\n"), 50);
      response.on("close", () => (clearInterval(beat), (hasLeft = true)));
      return void response.writeHead(200, { "content-type": "text/event-stream" }).write("data: one\n\n");
    }
    default:
      return void response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}');
  }
});
before(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const DEV_KILL_URL = `${origin}/kill/by-the-command-alone`;
  [development, deployed] = await Promise.all([startWorker({ hasDev: true, vars: { DEV_KILL_URL } }), startWorker({ hasDev: true, vars: { DEVELOPMENT: "false", DEV_KILL_URL } })]);
});
after(async () => {
  await Promise.all([development?.stop(), deployed?.stop()]);
  server.closeAllConnections();
  server.close();
});

/** Posts to the forwarder with exactly these headers: `fetch` would forbid some. */
async function forward(wanted: unknown, headers: Headers = {}, worker = development) {
  const posted = send(`${worker.url}/_dev/forward`, { method: "POST", headers: { "content-type": "application/json", ...headers }, agent: false });
  posted.end(typeof wanted === "string" ? wanted : JSON.stringify(wanted));
  const [response] = (await once(posted, "response")) as [IncomingMessage];
  return { ...(await read(response)), headers: response.headers };
}

const messageOf = ({ text }: { text: string }): string => (JSON.parse(text) as { message: string }).message;

describe("a request is passed on", () => {
  test("with its method, headers and body, and so is the answer", async () => {
    const answer = await forward({ method: "POST", url: `${origin}/rpc?a=b`, headers: [["x-key", "k"], ["a2a-version", "1.0"]], body: "{}" });
    const { "a2a-forwarded": from, "a2a-forwarded-status": status } = answer.headers;
    assert.deepEqual([answer.status, answer.text, from, status], [200, '{"ok":true}', `${origin}/rpc?a=b`, "200"]);
    const { method, url, headers, body } = received.at(-1)!;
    assert.deepEqual([method, url, headers["x-key"], headers["a2a-version"], body], ["POST", "/rpc?a=b", "k", "1.0", "{}"]);
  });

  test("and no browser takes the answer for a page of this server", async () => {
    const { text, headers } = await forward({ method: "GET", url: `${origin}/page` });
    assert.deepEqual([headers["a2a-forwarded-status"], text, headers["www-authenticate"]], ["404", "<script>alert(1)</script>", "Bearer"]);
    assert.deepEqual([headers["set-cookie"], headers["x-content-type-options"], headers["cross-origin-resource-policy"]], [undefined, "nosniff", "same-origin"]);
    assert.match(String(headers["content-security-policy"]), /^sandbox;/);
  });

  test("over redirects within the host, of a GET", async () => {
    const moved = await forward({ method: "GET", url: `${origin}/moved`, headers: [["x-key", "k"]] });
    assert.deepEqual([moved.status, moved.headers["a2a-forwarded"], received.at(-1)?.url], [200, `${origin}/landed`, "/landed"]);
    const away = await forward({ method: "GET", url: `${origin}/away` });
    assert.deepEqual([away.status, away.headers["a2a-forwarded-status"]], [200, undefined]);
    assert.match(messageOf(away), /redirects to another host, http:\/\/127\.0\.0\.2:1, which is not called/);
    assert.match(messageOf(await forward({ method: "GET", url: `${origin}/round` })), /redirects more than 3 times/);
    assert.match(messageOf(await forward({ method: "POST", url: `${origin}/moved`, body: "{}" })), /redirects a POST to \/landed/);
  });

  test("until its client leaves", async () => {
    const leaving = new AbortController();
    const body = JSON.stringify({ method: "GET", url: `${origin}/endless` });
    const response = await fetch(`${development.url}/_dev/forward`, { method: "POST", headers: { "content-type": "application/json" }, body, signal: leaving.signal });
    const reader = response.body!.getReader();
    assert.equal(new TextDecoder().decode((await reader.read()).value), "data: one\n\n");
    leaving.abort();
    await until(async () => hasLeft, (left) => left);
  });

  test("and a server that does not answer is named", async () => {
    const port = await freePort();
    const down = await forward({ method: "GET", url: `http://127.0.0.1:${port}/` });
    assert.deepEqual([down.status, down.headers["a2a-forwarded-status"]], [200, undefined]);
    assert.match(messageOf(down), new RegExp(`127\\.0\\.0\\.1:${port} did not answer`));
  });
});

describe("a request is refused", () => {
  const wanted = () => ({ method: "GET", url: `${origin}/rpc` });
  test("of a page of another site, or under another name of this machine", async () => {
    const before = received.length;
    for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }, { "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }, { host: "evil.example:8787" }] as Headers[]) {
      assert.equal((await forward(wanted(), headers)).status, 403, JSON.stringify(headers));
    }
    // A request that a page of another site can send without a preflight.
    assert.equal((await forward(wanted(), { "content-type": "text/plain" })).status, 415);
    const preflight = await fetch(`${development.url}/_dev/forward`, { method: "OPTIONS", headers: { origin: "https://evil.example", "access-control-request-method": "POST" } });
    assert.deepEqual([preflight.status, preflight.headers.get("access-control-allow-origin")], [405, null]);
    assert.equal(received.length, before, "nothing was sent");
  });

  test("that cannot be read", async () => {
    for (const [body, wrong] of [["{", /must be JSON/], [[], /`method`/], [{ method: "PUT", url: origin }, /`method`/], [{ method: "GET", url: "x" }, /`url`/], [{ method: "GET", url: "file:///etc/passwd" }, /`url`/],
      [{ method: "GET", url: origin, headers: [["a b", "c"]] }, /`headers`/], [{ method: "POST", url: origin, body: {} }, /`body`/]] as const) {
      const refused = await forward(body);
      assert.equal(refused.status, 400, JSON.stringify(body));
      assert.match(messageOf(refused), wrong);
    }
  });
});

test("a deployment has no forwarder, and sends nothing to a URL that a visitor names", async () => {
  const before = received.length;
  assert.equal((await forward({ method: "GET", url: `${origin}/rpc` }, {}, deployed)).status, 404);
  for (const worker of [development, deployed]) {
    const old = await fetch(`${worker.url}/console/api/remote`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ url: origin, method: "GetAgentCard" }) });
    assert.equal(old.status, 404, await old.text());
  }
  assert.equal(received.length, before);
});

test("the server is killed for its own pages alone, by the command that serves, and no deployment has that", async () => {
  const kill = async (headers: Headers = {}, worker = development, method = "POST") => {
    const asked = send(`${worker.url}/_dev/kill`, { method, headers: { "content-type": "application/json", ...headers }, agent: false });
    asked.end(method === "POST" ? "{}" : undefined);
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return { ...(await read(response)), headers: response.headers };
  };
  const before = received.length;
  for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }, { "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }, { host: "evil.example:8787" }] as Headers[]) {
    assert.equal((await kill(headers)).status, 403, JSON.stringify(headers));
  }
  assert.equal((await kill({ "content-type": "text/plain" })).status, 415);
  assert.deepEqual([(await kill({}, development, "GET")).status, (await kill({}, development, "OPTIONS")).status], [405, 405]);
  assert.equal((await kill({}, deployed)).status, 404);
  assert.equal(received.length, before, "nothing was asked of the command");
  const { status, text } = await kill({ origin: development.url, "sec-fetch-site": "same-origin" });
  assert.equal(status, 202);
  assert.doesNotMatch(text, /by-the-command-alone/);
  assert.deepEqual(received.slice(before).map(({ method, url }) => [method, url]), [["POST", "/kill/by-the-command-alone"]]);
});
