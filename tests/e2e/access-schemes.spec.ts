// Each scheme with secrets in the deployment, end to end: the admitted callers and their ids. All others are refused.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { basic, bearer, caller, certificate, guarded, openWitness, rpc, secretsOf, send, verified, whoAmI, whoAmIByRest, type Headers } from "./access.ts";
import { message, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import type { AgentServer } from "./http-agents.ts";
import { hmacToken } from "./identity-provider.ts";

const secrets = secretsOf("BILLING_KEY", "BILLING_KEY_NEW", "AUDIT_KEY", "ROBOT_TOKEN", "ALICE_PASSWORD", "BOB_PASSWORD", "JWT_SECRET", "JWT_SECRET_OLD", "PAGE_KEY");
const key = { kind: "api_key", name: "X-Api-Key", callers: [
  caller("billing", ["BILLING_KEY", "BILLING_KEY_NEW"], { permissions: ["read"], claims: { team: "blue" } }),
  caller("audit", ["NOT_SET", "AUDIT_KEY"], { claims: { team: "blue" } }),
] };
const token = { kind: "bearer", callers: [caller("robot", ["ROBOT_TOKEN"], { permissions: ["write"] })] };
const people = { kind: "basic", callers: [caller("alice", ["ALICE_PASSWORD"]), caller("bob", ["BOB_PASSWORD"])] };
const query = { kind: "api_key", in: "query", name: "key", callers: [caller("hook", ["PAGE_KEY"])] };
const cookie = { kind: "api_key", in: "cookie", name: "session", callers: [caller("page", ["PAGE_KEY"])] };
const jwt = { kind: "jwt", issuer: "https://id.example", audience: ["agents"], secrets: ["JWT_SECRET", "JWT_SECRET_OLD"] };
const tls = { kind: "mutual_tls", permissions: ["write"] };

const claims = (more: object = {}): Record<string, unknown> => ({ iss: "https://id.example", aud: "agents", sub: "carol", exp: Math.floor(Date.now() / 1000) + 300, ...more });
const jwtOf = (secret: string, more: object = {}): Headers => bearer(hmacToken(secret, claims(more)));
const inCookie = (more: object = {}): Headers => ({ cookie: `theme=dark; id_token=${hmacToken(secrets.JWT_SECRET, claims(more))}` });

let witness: AgentServer;
let worker: Worker;
before(async () => {
  witness = await openWitness();
  const AGENTS = guarded({
    key: { schemes: { key } },
    token: { schemes: { token } },
    people: { schemes: { people } },
    query: { schemes: { query } },
    cookie: { schemes: { cookie } },
    jwt: { schemes: { jwt } },
    "jwt-cookie": { schemes: { jwt: { ...jwt, cookie: "id_token" } } },
    nested: { schemes: { jwt: { ...jwt, claims: { id: "user.id", session: "sid", permissions: ["realm_access.roles"] } } } },
    tls: { schemes: { tls: { ...tls, fingerprints: [verified.certFingerprintSHA256.toUpperCase()] } } },
    any: { schemes: { key, token, people, cookie, jwt, tls } },
    all: { schemes: { key, jwt }, requires: [{ key: ["read"], jwt: [] }] },
    scoped: { schemes: { key, token }, requires: [{ key: ["read"] }, { token: ["admin"] }] },
    team: { schemes: { key }, share_by: "team" },
  }, witness.url);
  worker = await startWorker({ vars: { DEVELOPMENT: "false", AGENTS, ...secrets } });
});
after(async () => {
  await worker.stop();
  witness.close();
});

describe("each scheme takes its credential over both bindings, and no other (§7.3, §7.4)", () => {
  const rows: [agent: string, what: string, headers: Headers, who: string][] = [
    ["key", "a key", { "x-api-key": secrets.BILLING_KEY }, "key:billing [read]"],
    ["key", "the key that replaces it", { "X-API-KEY": secrets.BILLING_KEY_NEW }, "key:billing [read]"],
    ["key", "a key beside one that is not set", { "x-api-key": secrets.AUDIT_KEY }, "key:audit []"],
    ["key", "another secret of the Worker", { "x-api-key": secrets.ROBOT_TOKEN }, "401"],
    ["key", "the name of the secret", { "x-api-key": "BILLING_KEY" }, "401"],
    ["key", "the key in another place", bearer(secrets.BILLING_KEY), "401"],
    ["key", "nothing", {}, "401"],
    ["token", "a token", bearer(secrets.ROBOT_TOKEN), "token:robot [write]"],
    ["token", "a token without its last letter", bearer(secrets.ROBOT_TOKEN.slice(0, -1)), "401"],
    ["people", "a name and a password", basic("alice", secrets.ALICE_PASSWORD), "people:alice []"],
    ["people", "another name and its password", basic("bob", secrets.BOB_PASSWORD), "people:bob []"],
    ["people", "the password of another name", basic("bob", secrets.ALICE_PASSWORD), "401"],
    ["people", "a name that there is not", basic("mallory", secrets.ALICE_PASSWORD), "401"],
    ["cookie", "a key in a cookie", { cookie: `a=b; session=${secrets.PAGE_KEY}` }, "cookie:page []"],
    ["cookie", "the key in another cookie", { cookie: `sessions=${secrets.PAGE_KEY}` }, "401"],
    ["jwt", "a token of the issuer", jwtOf(secrets.JWT_SECRET, { scope: "read write" }), "jwt:carol [read, write]"],
    ["jwt", "a token of its older secret", jwtOf(secrets.JWT_SECRET_OLD), "jwt:carol []"],
    ["jwt", "a token of another secret", jwtOf(secrets.ROBOT_TOKEN), "401"],
    ["jwt", "a token for others", jwtOf(secrets.JWT_SECRET, { aud: "others" }), "401"],
    ["jwt", "a token that has expired", jwtOf(secrets.JWT_SECRET, { exp: Math.floor(Date.now() / 1000) - 61 }), "401"],
    ["jwt", "a token in a cookie", inCookie(), "401"],
    ["jwt-cookie", "a token in a cookie", inCookie({ permissions: ["admin"] }), "jwt:carol [admin]"],
    ["jwt-cookie", "a token in the header", jwtOf(secrets.JWT_SECRET), "401"],
    ["nested", "a token whose claims lie in objects", jwtOf(secrets.JWT_SECRET, { sub: 5, user: { id: "dave" }, realm_access: { roles: ["x"] } }), "jwt:dave [x]"],
    ["nested", "a token without them", jwtOf(secrets.JWT_SECRET), "401"],
    ["tls", "a certificate", certificate(verified), "tls:CN=robot,O=Example [write]"],
    ["tls", "another certificate", certificate({ ...verified, certFingerprintSHA256: "0".repeat(64) }), "401"],
    ["tls", "a certificate that was not verified", certificate({ ...verified, certVerified: "FAILED:self signed certificate" }), "401"],
    ["tls", "a certificate that is revoked", certificate({ ...verified, certRevoked: "1" }), "401"],
    ["tls", "no certificate", certificate({ ...verified, certPresented: "0" }), "401"],
    ["any", "a key", { "x-api-key": secrets.AUDIT_KEY }, "key:audit []"],
    ["any", "a token", bearer(secrets.ROBOT_TOKEN), "token:robot [write]"],
    ["any", "a password", basic("alice", secrets.ALICE_PASSWORD), "people:alice []"],
    ["any", "a JWT", jwtOf(secrets.JWT_SECRET), "jwt:carol []"],
    ["any", "a certificate", certificate(verified), "tls:CN=robot,O=Example [write]"],
    ["any", "a key beside a cookie", { "x-api-key": secrets.AUDIT_KEY, cookie: `session=${secrets.PAGE_KEY}` }, "key:audit []"],
    ["any", "a wrong key beside a cookie", { "x-api-key": "wrong", cookie: `session=${secrets.PAGE_KEY}` }, "401"],
    ["all", "both", { "x-api-key": secrets.BILLING_KEY, ...jwtOf(secrets.JWT_SECRET, { scope: "write" }) }, "jwt:carol [write, read]"],
    ["all", "one of two", jwtOf(secrets.JWT_SECRET, { scope: "read" }), "401"],
    ["all", "both without the scope", { "x-api-key": secrets.AUDIT_KEY, ...jwtOf(secrets.JWT_SECRET, { scope: "read" }) }, "403"],
    ["scoped", "a key with the scope", { "x-api-key": secrets.BILLING_KEY }, "key:billing [read]"],
    ["scoped", "a key without it", { "x-api-key": secrets.AUDIT_KEY }, "403"],
    ["scoped", "a token without another", bearer(secrets.ROBOT_TOKEN), "403"],
  ];
  for (const [agent, what, headers, who] of rows) {
    test(`${agent}: ${what} is ${who}`, async () => {
      const url = `${worker.url}/${agent}`;
      assert.deepEqual([await whoAmI(url, headers), await whoAmIByRest(url, headers)], [who, who]);
    });
  }

  test("query: a key in the query, once (§4.5.2)", async () => {
    const url = `${worker.url}/query`;
    const pair = `key=${secrets.PAGE_KEY}`;
    for (const [asked, who] of [[pair, "query:hook []"], [`a=1&${pair}`, "query:hook []"], [`${pair}&${pair}`, "401"], ["key=", "401"], ["Key=" + secrets.PAGE_KEY, "401"], ["", "401"]]) {
      assert.deepEqual([await whoAmI(`${url}?${asked}`, {}), await whoAmIByRest(`${url}?${asked}`, {})], [who, who], asked?.replace(secrets.PAGE_KEY, "KEY"));
    }
    const listed = await send(`${url}/tasks?pageSize=1&${pair}`, "GET", {});
    assert.equal(listed.status, 200, "a GET has other parameters, too");
  });
});

test("a task is its caller's alone, and another scheme makes another caller of the same name (§13.1)", async () => {
  const url = `${worker.url}/any`;
  const begun = await rpc(url, "SendMessage", { message: message("hello") }, bearer(secrets.ROBOT_TOKEN));
  const { id } = (JSON.parse(begun.text) as { result: { task: Task } }).result.task;
  const found = async (headers: Headers): Promise<boolean> => "result" in JSON.parse((await rpc(url, "GetTask", { id }, headers)).text);
  assert.equal(await found(bearer(secrets.ROBOT_TOKEN)), true);
  assert.equal(await found(jwtOf(secrets.JWT_SECRET, { sub: "robot" })), false);
  assert.equal(await found({ "x-api-key": secrets.BILLING_KEY }), false);
});

test("the callers of a group share their tasks", async () => {
  const url = `${worker.url}/team`;
  const begun = await rpc(url, "SendMessage", { message: message("hello") }, { "x-api-key": secrets.BILLING_KEY });
  const { id } = (JSON.parse(begun.text) as { result: { task: Task } }).result.task;
  const read = await rpc(url, "GetTask", { id }, { "x-api-key": secrets.AUDIT_KEY });
  assert.equal((JSON.parse(read.text) as { result: Task }).result.id, id);
});
