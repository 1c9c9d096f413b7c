// Tables of tokens and requests: each row of an attacker is refused and does not reach an agent; each row of an honest caller is
// accepted.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { caller, certificate, fresh, guarded, rpc, send, verified, type Answer } from "./access.ts";
import { toolCall } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { honest, hostile, type Means, type Row } from "./hostile-tokens.ts";
import { AUDIENCE, IdentityProvider, jwt, makeKey } from "./identity-provider.ts";

let provider: IdentityProvider;
let worker: Worker;
let means: Means;

before(async () => {
  provider = await IdentityProvider.open();
  const [rsa, ec, ed] = [makeKey("RS256"), makeKey("ES256"), makeKey("EdDSA")] as const;
  const issuer = provider.issuer("provider", rsa, ec, ed);
  const secrets = { JWT_SECRET: fresh(), API_KEY: fresh(), ROBOT_TOKEN: fresh(), PASSWORD: `${fresh()}:\u00e4 b` };
  means = { issuer, rsa, ec, ed, secrets };
  const shared = { kind: "jwt", issuer: issuer.url, audience: [AUDIENCE], secrets: ["JWT_SECRET"] };
  const AGENTS = guarded({
    shared: { schemes: { jwt: shared } },
    cookie: { schemes: { jwt: { ...shared, cookie: "id_token" } } },
    public: { schemes: { oidc: jwt(issuer) } },
    narrow: { schemes: { oidc: jwt(issuer, { algorithms: ["ES256"] }) } },
    key: { schemes: { key: { kind: "api_key", name: "X-Api-Key", callers: [caller("billing", ["API_KEY"])] } } },
    token: { schemes: { token: { kind: "bearer", callers: [caller("robot", ["ROBOT_TOKEN"])] } } },
    people: { schemes: { people: { kind: "basic", callers: [caller("alice", ["PASSWORD"])] } } },
    tls: { schemes: { tls: { kind: "mutual_tls" } } },
  });
  worker = await startWorker({ vars: { AGENTS, ...secrets }, notes: true });
});
after(async () => {
  await worker.stop();
  provider.close();
});

/** Sends a message to the agent of a row. */
function ask([, agent, headers]: Row): Promise<Answer> {
  return rpc(`${worker.url}/${agent}`, "SendMessage", { message: toolCall("is_admin") }, headers);
}

test("everything that attackers send is refused with 401, and reaches no agent (§7.4, §13.1)", async () => {
  const rows = hostile(means);
  assert.ok(rows.length >= 120, String(rows.length));
  assert.equal(new Set(rows.map(([what, agent]) => `${agent} ${what}`)).size, rows.length, "each is another one");
  const taken: string[] = [];
  for (const row of rows) {
    const { status, challenge, text } = await ask(row);
    if (status !== 401 || challenge === undefined || !text.includes("UNAUTHENTICATED")) taken.push(`${row[1]}: ${row[0]}: ${status} ${text.slice(0, 200)}`);
  }
  assert.deepEqual(taken, []);
  assert.deepEqual(await worker.given(), []);
  assert.equal(provider.sink.count("/evil/jwks"), 0, "no key is fetched from where a token says");
});

test("everything that honest callers send is taken", async () => {
  const rows = honest(means);
  assert.ok(rows.length >= 120, String(rows.length));
  const refused: string[] = [];
  for (const row of rows) {
    const { status, text } = await ask(row);
    if (status !== 200 || !text.includes("TASK_STATE_COMPLETED")) refused.push(`${row[1]}: ${row[0]}: ${status} ${text.slice(0, 200)}`);
  }
  assert.deepEqual(refused, []);
});

test("a certificate is what the platform reports, and not what a header says", async () => {
  const list = (headers: Record<string, string>): Promise<Answer> => send(`${worker.url}/tls/tasks`, "GET", headers);
  assert.equal((await list(certificate(verified))).status, 200);
  const reported = JSON.stringify(verified);
  for (const name of ["certificate", "x-certificate", "tlsclientauth", "cf-tls-client-auth", "cf-cert-verified", "x-client-cert", "x-forwarded-client-cert"]) {
    assert.equal((await list({ [name]: reported })).status, 401, name);
  }
});
