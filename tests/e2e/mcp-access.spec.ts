// The access rules of the MCP server: those of the agents, pages, rate limits, tasks of others (MCP, authorization and transport).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bearer, caller, secretsOf } from "./access.ts";
import { startWorker, type Worker } from "./harness.ts";
import { connect, legacy, modern, only, type Result } from "./mcp.ts";

const { ALICE, BOB, READER, KEY } = secretsOf("ALICE", "BOB", "READER", "KEY");
const token = { kind: "bearer", callers: [caller("alice", ["ALICE"]), caller("bob", ["BOB"])] };
const vars = { ALICE, BOB, READER, KEY };

let worker: Worker;
let url: string;
before(async () => {
  const agents = only({
    open: { of: "double", access: { open: true } },
    closed: { of: "double", access: { schemes: { token } } },
    strict: { of: "double", access: { schemes: { token, reader: { kind: "bearer", callers: [caller("carol", ["READER"], { permissions: ["read"] })] } },
      requires: [{ token: ["read"] }, { reader: ["read"] }] } },
    keyed: { of: "double", access: { schemes: { key: { kind: "api_key", in: "query", name: "key", callers: [caller("dora", ["KEY"])] } } } },
    issued: { of: "double", access: { schemes: { jwt: { kind: "jwt", issuer: "https://id.example", audience: ["x"], jwks_url: "https://id.example/keys" } } } },
    paged: { of: "double", access: { open: true, allowed_origins: ["https://pages.example"] } },
    limited: { of: "double", access: { open: true, rate_limits: [{ by: "address", binding: "LIMIT", period_s: 60 }] } },
  });
  worker = await startWorker({ vars: { AGENTS: agents, MAX_BODY_BYTES: "16384", ...vars }, rateLimits: { LIMIT: { limit: 1, period: 60 } } });
  url = `${worker.url}/mcp`;
});
after(() => worker.stop());

const names = async (headers = {}, of = url): Promise<string[]> => {
  const { body } = await legacy(of, "tools/list", {}, headers);
  return (body.result as unknown as { tools: { name: string }[] }).tools.map(({ name }) => name).filter((name) => !name.includes("_"));
};
const call = async (name: string, args: object, headers = {}, of = url): Promise<Result | undefined> =>
  (await legacy(of, "tools/call", { name, arguments: args }, headers)).body.result;

test("a caller sees and calls the agents that let it in", async () => {
  const anybody = ["open", "paged", "limited"];
  assert.deepEqual(await names(), anybody);
  assert.deepEqual(await names(bearer(ALICE)), ["open", "closed", "paged", "limited"]);
  assert.deepEqual(await names(bearer(READER)), ["open", "strict", "paged", "limited"]);
  assert.deepEqual(await names({}, `${url}?key=${KEY}`), ["open", "keyed", "paged", "limited"]);
  assert.equal((await modern(url, "tools/list", {}, bearer(ALICE))).body.result?.["cacheScope"], "private");
  for (const [name, headers, of] of [["closed", bearer(ALICE), url], ["strict", bearer(READER), url], ["keyed", {}, `${url}?key=${KEY}`],
    ["closed", bearer(BOB), `${worker.url}/closed/mcp`]] as const) {
    assert.equal((await call(name, { message: "hi" }, headers, of))?.structuredContent?.text, "hi", name);
  }
});

test("a caller that an agent does not let in is told why", async () => {
  const refused = await legacy(`${worker.url}/closed/mcp`, "initialize");
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get("www-authenticate"), 'Bearer realm="closed"');
  assert.match(refused.body.error?.message ?? "", /agent closed: credentials are needed.*there is no OAuth here/);
  assert.equal((await legacy(url, "tools/call", { name: "closed", arguments: { message: "x" } })).status, 401);
  const wrong = await legacy(url, "tools/list", {}, bearer("wrong"));
  assert.equal(wrong.status, 401, "credentials that nobody takes are not ignored");
  assert.match(wrong.headers.get("www-authenticate") ?? "", /error="invalid_token"/);
  const weak = await legacy(`${worker.url}/strict/mcp`, "tools/list", {}, bearer(ALICE));
  assert.equal(weak.status, 403);
  assert.match(weak.headers.get("www-authenticate") ?? "", /error="insufficient_scope", scope="read"/);
  await assert.rejects(connect(`${worker.url}/closed/mcp`, "legacy"), /401|Unauthorized/i);
});

test("where others give out tokens, clients are told who does", async () => {
  const metadata = `${worker.url}/.well-known/oauth-protected-resource/issued/mcp`;
  const refused = await modern(`${worker.url}/issued/mcp`, "server/discover");
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get("www-authenticate"), `Bearer realm="issued", resource_metadata="${metadata}"`);
  const expected = { resource: `${worker.url}/issued/mcp`, authorization_servers: ["https://id.example"], scopes_supported: [], bearer_methods_supported: ["header"] };
  assert.deepEqual(await (await fetch(metadata)).json(), expected);
  assert.equal((await fetch(`${worker.url}/.well-known/oauth-protected-resource/mcp`)).status, 200);
  assert.equal((await fetch(`${worker.url}/.well-known/oauth-protected-resource/closed/mcp`)).status, 404);
});

test("nobody sees or ends a task of somebody else", async () => {
  const done = await call("closed", { message: "mine" }, bearer(ALICE));
  const task_id = done?.structuredContent?.task_id ?? "";
  assert.equal((await call("get_task", { task_id }, bearer(ALICE)))?.structuredContent?.text, "mine");
  for (const headers of [bearer(BOB), bearer(READER), {}]) {
    for (const tool of ["get_task", "cancel_task", "delete_task"]) {
      const result = await call(tool, { task_id, agent: "closed" }, headers);
      assert.equal(result?.isError, true);
      assert.equal(result?.content[0]?.text, `there is no task ${task_id} for this caller`);
    }
  }
  assert.equal((await call("closed", { message: "more", task_id }, bearer(BOB)))?.isError, true);
});

test("pages are let in as the agents say", async () => {
  const from = (origin: string, of = url) => legacy(of, "tools/list", {}, { origin });
  // In development, pages of other machines could have pointed their host name at this machine.
  assert.equal((await from("http://evil.example")).status, 403);
  assert.equal((await from("http://localhost:6274")).status, 200);
  assert.equal((await from("http://localhost:6274", `${worker.url}/paged/mcp`)).status, 200);
  const listed = await from("https://pages.example", `${worker.url}/paged/mcp`);
  assert.equal(listed.status, 200);
  assert.deepEqual(["access-control-allow-origin", "access-control-allow-credentials", "vary"].map((name) => listed.headers.get(name)),
    ["https://pages.example", "true", "Origin"]);
  assert.deepEqual(await names({ origin: "https://pages.example" }), ["paged"]);
  const deployed = await startWorker({ vars: { AGENTS: only({ open: { of: "double", development: false, access: { open: true } },
    paged: { of: "double", development: false, access: { open: true, allowed_origins: ["https://pages.example"] } } }), DEVELOPMENT: "false" } });
  try {
    const seen = await legacy(`${deployed.url}/mcp`, "tools/list", {}, { origin: "https://any.example" });
    assert.equal(seen.status, 200);
    assert.equal(seen.headers.get("access-control-allow-credentials"), null);
    assert.doesNotMatch(seen.text, /"paged"/);
    const refused = await legacy(`${deployed.url}/paged/mcp`, "tools/list", {}, { origin: "https://any.example" });
    assert.deepEqual([refused.status, refused.headers.get("access-control-allow-origin")], [403, null]);
  } finally {
    await deployed.stop();
  }
});

test("rate limits count calls, and circles of agents end", async () => {
  const limited = [];
  for (let turn = 0; turn < 3; turn += 1) limited.push(await call("limited", { message: "x" }));
  assert.match(limited.find((result) => result?.isError)?.content[0]?.text ?? "", /too many requests|again/);
  const deep = await legacy(url, "tools/call", { name: "open", arguments: { message: "x" }, _meta: { "urn:a2a-edge:depth": 9 } });
  assert.equal(deep.body.result?.isError, true);
  assert.match(deep.body.result?.content[0]?.text ?? "", /at most 8, got 9|invalid/i);
  assert.equal((await legacy(url, "tools/call", { name: "open", arguments: { message: "x" }, _meta: { "urn:a2a-edge:depth": 8 } })).body.result?.isError, undefined);
});

test("a body that is too large is refused", async () => {
  const answer = await legacy(url, "tools/call", { name: "open", arguments: { message: "x".repeat(20_000) } });
  assert.deepEqual([answer.status, answer.body.error?.code], [413, 413]);
});
