// Tokens whose public keys are in a key set, behind an issuer's discovery document, or those of a team of Cloudflare Access: the
// sources of the keys, and that they are not fetched more often than needed.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { logged, until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { access, agentsWith, ask, discovered, IdentityProvider, jwt, makeKey, type Issuer } from "./identity-provider.ts";

const [rsa, ec, ed] = [makeKey("RS256"), makeKey("ES256"), makeKey("EdDSA")];
let provider: IdentityProvider;
let worker: Worker;
const issuers = new Map<string, Issuer>();
const issuer = (name: string): Issuer => issuers.get(name) ?? assert.fail(name);
const agent = (name: string): string => `${worker.url}/${name}`;
before(async () => {
  provider = await IdentityProvider.open();
  const schemes: Parameters<typeof agentsWith>[0] = {};
  const add = (name: string, scheme: (issuer: Issuer) => Record<string, unknown>, ...keys: Parameters<IdentityProvider["issuer"]>[1][]): void => {
    const issuer = provider.issuer(name, ...keys);
    issuers.set(name, issuer);
    schemes[name] = { sso: scheme(issuer) };
  };
  add("by-jwks", jwt, rsa, ec, ed);
  add("by-discovery", discovered, rsa, ec, ed);
  add("by-access", access, rsa, makeKey("RS256"));
  add("one-rs256", (issuer) => jwt(issuer, { algorithms: ["RS256"] }), rsa, ec);
  for (const name of ["first", "seen", "two"]) add(name, jwt);
  const [two, other] = [issuer("two"), provider.issuer("other")];
  issuers.set("other", other);
  schemes["two"] = { sso: jwt(two), second: jwt(other, { cookie: "second" }) };
  const both = { requires: [{ sso: [], second: [] }] };
  worker = await startWorker({ vars: { AGENTS: agentsWith(schemes, { two: both }) }, notes: true });
});
after(async () => {
  await worker.stop();
  provider.close();
});

const statements = async (): Promise<string[]> => (await worker.statements()).map(({ sql }) => sql).filter((sql) => / remembered\b/.test(sql));

describe("a token is taken", () => {
  for (const name of ["by-jwks", "by-discovery"]) {
    for (const key of [rsa, ec, ed]) {
      test(`${name}, signed with ${key.algorithm} (§7.3)`, async () => {
        const admission = await ask(agent(name), issuer(name).token({}, { key }));
        assert.equal(admission.status, 200, admission.message);
      });
    }
  }

  test("with a kid or without, if it names the only key for its algorithm (RFC 7515 §4.1.4)", async () => {
    const admission = await ask(agent("by-jwks"), issuer("by-jwks").token({}, { key: ec, header: { kid: undefined } }));
    assert.equal(admission.status, 200, admission.message);
    const several = issuer("by-access").token({}, { header: { kid: undefined } });
    const refused = await ask(agent("by-access"), { "cf-access-jwt-assertion": several });
    assert.equal(refused.status, 401);
    assert.match(refused.message, /several such keys/);
  });

  test("that Cloudflare Access has put into its header, for people and for service tokens", async () => {
    const team = issuer("by-access");
    for (const claims of [{ sub: "5f1d2c3b", email: "alice@agents.example", identity_nonce: "x", type: "app" }, { sub: "", common_name: "robot.access", type: "app" }]) {
      const admission = await ask(agent("by-access"), { "cf-access-jwt-assertion": team.token({ aud: ["agents"], ...claims }) });
      assert.equal(admission.status, 200, admission.message);
    }
    assert.equal(team.fetches, 1);
    for (const token of [team.token({}), team.token({}, { key: makeKey("RS256") })]) {
      const elsewhere = await ask(agent("by-access"), token);
      assert.equal(elsewhere.status, 401, "in a header of clients");
    }
    const forged = await ask(agent("by-access"), { "cf-access-jwt-assertion": team.token({}, { key: makeKey("RS256", { kid: rsa.kid }) }) });
    assert.equal(forged.status, 401);
  });
});

test("a key for one algorithm checks no other (RFC 8725 §3.1)", async () => {
  const refused = await ask(agent("one-rs256"), issuer("one-rs256").token({}, { key: ec }));
  assert.equal(refused.status, 401);
  assert.equal(issuer("one-rs256").fetches, 0, "nobody needs to be asked for that");
});

test("the keys are fetched once, however many tokens come", async () => {
  for (const name of ["by-jwks", "by-discovery"]) {
    await Promise.all(Array.from({ length: 5 }, () => ask(agent(name), issuer(name).token())));
    assert.equal(issuer(name).fetches, 1);
  }
  assert.deepEqual([issuer("by-jwks").discoveries, issuer("by-discovery").discoveries], [0, 1]);
});

test("fifty first requests at once are one fetch, and all are answered (§7.3)", async () => {
  const first = issuer("first");
  first.holdKeys();
  const asked = Array.from({ length: 50 }, () => ask(agent("first"), first.token()));
  await (await first.asked(1)).answer(first.answerTo("/jwks"));
  assert.deepEqual(new Set((await Promise.all(asked)).map(({ status }) => status)), new Set([200]));
  assert.equal(first.fetches, 1);
});

test("a request whose client leaves leads the others to their keys all the same", async (t) => {
  const leaver = provider.issuer("leaver");
  const own = await startWorker({ vars: { AGENTS: agentsWith({ leaver: { sso: jwt(leaver) } }) } });
  t.after(() => own.stop());
  leaver.holdKeys();
  const gone = new AbortController();
  const left = fetch(`${own.url}/leaver/tasks`, { headers: { authorization: `Bearer ${leaver.token()}` }, signal: gone.signal });
  const arrival = await leaver.asked(1);
  const waiting = ask(`${own.url}/leaver`, leaver.token());
  gone.abort();
  await assert.rejects(left);
  await arrival.answer(leaver.answerTo("/jwks"));
  assert.equal((await waiting).status, 200);
  assert.equal(leaver.fetches, 1);
});

test("two tokens of one request are checked with the keys of two issuers", async () => {
  const [two, other] = [issuer("two"), issuer("other")];
  const status = async (first: string, second: string) =>
    (await ask(agent("two"), { authorization: `Bearer ${first}`, cookie: `second=${second}` })).status;
  const forged = makeKey("ES256", { kid: other.keys[0]?.kid ?? "" });
  assert.equal(await status(two.token(), other.token()), 200);
  assert.equal(await status(two.token(), other.token({}, { key: forged })), 401);
  assert.equal(await status(other.token(), two.token()), 401);
  assert.deepEqual([two.fetches, other.fetches], [1, 1]);
});

describe("what is known is not asked for again", () => {
  test("a first token costs a read of D1 and a fetch, the next ones neither", async () => {
    const seen = issuer("seen");
    const before = (await statements()).length;
    const token = seen.token();
    assert.equal((await ask(agent("seen"), token)).status, 200);
    const cost = (await until(statements, (noted) => noted.length >= before + 2)).slice(before);
    assert.deepEqual(cost.map((sql) => sql.split(" ", 1)[0]), ["SELECT", "INSERT"]);
    for (const again of [token, seen.token(), token]) assert.equal((await ask(agent("seen"), again)).status, 200);
    assert.equal((await statements()).length, before + cost.length);
    assert.equal(seen.fetches, 1);
  });

  test("an instance that begins anew reads the keys from D1, without a fetch", async (t) => {
    const restarted = provider.issuer("anew");
    const own = await startWorker({ vars: { AGENTS: agentsWith({ anew: { sso: discovered(restarted) } }) } });
    t.after(() => own.stop());
    assert.equal((await ask(`${own.url}/anew`, restarted.token())).status, 200);
    const row = async () => (await (await own.d1()).prepare("SELECT * FROM remembered").run<{ key: string; value: string; fetched_ms: number }>()).results;
    // The row is stored in the background, possibly after the answer.
    const [stored, ...others] = await until(row, ({ length }) => length > 0);
    assert.equal(others.length, 0);
    assert.equal(stored?.key, `oidc:${restarted.url}`);
    const { use: _, ...jwk } = restarted.keys[0]?.jwk ?? {};
    assert.deepEqual(JSON.parse(stored.value), { keys: [jwk] });
    restarted.isDown = true;
    await own.restart();
    assert.equal((await ask(`${own.url}/anew`, restarted.token())).status, 200);
    assert.deepEqual([restarted.discoveries, restarted.fetches], [1, 1]);
    assert.deepEqual(await row(), [stored]);
  });

  test("a database without the table is no obstacle", async (t) => {
    const bare = provider.issuer("bare");
    const own = await startWorker({ vars: { AGENTS: agentsWith({ bare: { sso: jwt(bare) } }) } });
    t.after(() => own.stop());
    await (await own.d1()).prepare("DROP TABLE remembered").run();
    for (let nth = 0; nth < 3; nth++) assert.equal((await ask(`${own.url}/bare`, bare.token())).status, 200);
    assert.equal(bare.fetches, 1);
    await logged(own, /remembered: read failed/);
    await own.cron();
    await logged(own, /remembered: clean up failed/);
    assert.ok(!own.logs.some(({ message }) => /cannot be deleted/.test(message)), "the tasks are cleaned up all the same");
  });
});

test("what a body asks is answered when its token was checked, a list as well", async () => {
  const headers = { authorization: `Bearer ${issuer("by-jwks").token()}`, "a2a-version": "1.0", "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: "mine", method: "ListTasks", params: { pageSize: 1 } });
  const response = await fetch(agent("by-jwks"), { method: "POST", headers, body });
  const { id, result } = (await response.json()) as { id: string; result?: { totalSize: number } };
  assert.deepEqual([id, result?.totalSize], ["mine", 0]);
});
