// Remotes with `oauth2`: a token of the client credentials grant (RFC 6749 §4.4) is fetched on demand, used by all runs of an
// instance, and fetched again before it expires or when the agent refuses it. The secret is sent only to the token server.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Agent, textOf, until, type Task } from "./client.ts";
import { cardOf, withFronts } from "./fronts.ts";
import { secret, startWorker, type Worker } from "./harness.ts";
import { done } from "./liars.ts";
import { Sink, type Arrival, type Deed } from "./sink.ts";

const CLIENT_SECRET = secret("REMOTE_CLIENT_SECRET", `s3cret&${randomUUID()}`);

/** The lifetime of each remote's tokens, in seconds; or the answer in place of a token. */
const LIVES = {
  long: 3_600,
  short: 4,
  revoked: 3_600,
  echoing: 3_600,
  refusing: { status: 400, body: JSON.stringify({ error: "invalid_client", error_description: `${CLIENT_SECRET} is wrong` }) },
  failing: { status: 503, body: `${CLIENT_SECRET} is not read now` },
  down: "drop",
} as const;
type Name = keyof typeof LIVES;

/** The token server, and the agents that accept its tokens. */
let login: Sink, agents: Sink;
let worker: Worker;
/** The tokens issued for each remote, oldest first, and the revoked ones. */
const given = new Map<string, string[]>();
const revoked = new Set<string>();
/** The number of refused tokens. */
let refusals = 0;

before(async () => {
  [login, agents] = await Promise.all([Sink.open(), Sink.open()]);
  login.otherwise = giveToken;
  agents.otherwise = answer;
  const fronts = Object.keys(LIVES).map((name) => {
    const oauth2 = { token_url: `${login.url}/${name}`, client_id: "a2a edge", client_secret: "${REMOTE_CLIENT_SECRET}", scopes: ["call", "read"], audience: "agents" };
    return [name, { remote: { url: `${agents.url}/${name}`, oauth2, max_retries: 1, retry_delay_ms: 10 } }];
  });
  worker = await startWorker({ vars: { AGENTS: withFronts(Object.fromEntries(fronts)), REMOTE_CLIENT_SECRET: CLIENT_SECRET } });
});
after(async () => {
  await worker.stop();
  login.close();
  agents.close();
});

function giveToken({ path }: Arrival): Deed {
  const name = path.slice(1) as Name;
  const lives = LIVES[name];
  if (typeof lives !== "number") return lives;
  const tokens = given.get(name) ?? [];
  tokens.push(secret("ACCESS_TOKEN", `token-${randomUUID()}`));
  given.set(name, tokens);
  return { headers: { "content-type": "application/json" }, body: JSON.stringify({ access_token: tokens.at(-1), token_type: "Bearer", expires_in: lives }) };
}

/** The answers of the agents: their cards, and finished tasks for requests with a token. */
function answer({ path, method, headers, body }: Arrival): Deed {
  const name = path.split("/")[1] ?? "";
  const token = headers.authorization?.replace(/^Bearer /, "") ?? "";
  if (!given.get(name)?.includes(token) || revoked.has(token)) {
    refusals += 1;
    return { status: 401, headers: { "www-authenticate": "Bearer" }, body: "" };
  }
  const json = (value: object): Deed => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(value) });
  if (method === "GET") return json({ ...cardOf(`${agents.url}/${name}/rpc`), capabilities: {} });
  const { id } = JSON.parse(body) as { id: unknown };
  return json({ jsonrpc: "2.0", id, result: { task: done(randomUUID(), name === "echoing" ? `you are ${headers.authorization}` : "done") } });
}

const send = (name: Name): Promise<Task> => new Agent(`${worker.url}/${name}`).sendForTask("hello");

async function assertDone(name: Name): Promise<void> {
  const { status } = await send(name);
  assert.equal(status.state, "TASK_STATE_COMPLETED", textOf(status.message));
}

test("a token is asked for once, as the standard has it, and serves all requests of several runs (RFC 6749 §4.4)", async () => {
  for (let run = 0; run < 3; run += 1) await assertDone("long");
  const [asked, ...again] = login.arrivals("/long");
  assert.deepEqual(again, [], "one token");
  const basic = Buffer.from(`a2a%20edge:${encodeURIComponent(CLIENT_SECRET)}`).toString("base64");
  assert.equal(asked?.headers.authorization, `Basic ${basic}`);
  assert.equal(asked?.headers["content-type"], "application/x-www-form-urlencoded");
  assert.equal(asked?.body, "grant_type=client_credentials&scope=call%20read&audience=agents");
  const calls = agents.arrivals("/long");
  assert.deepEqual(calls.map(({ method }) => method), ["GET", "POST", "POST", "POST"], "the card, and three messages");
  assert.ok(calls.every(({ headers }) => headers.authorization === `Bearer ${given.get("long")?.[0]}`));
});

test("a token is fetched anew before it expires (RFC 6749 §4.2.2)", async () => {
  const before = refusals;
  await until(() => assertDone("short"), () => (given.get("short")?.length ?? 0) > 1);
  assert.equal(refusals, before, "no agent had to refuse one");
  const shown = agents.arrivals("/short").map(({ headers }) => headers.authorization);
  assert.equal(shown.at(-1), `Bearer ${given.get("short")?.at(-1)}`);
});

for (const [name, said] of [
  ["refusing", /^the remote agent was not reached: no token was obtained: the token endpoint answered 400 \(invalid_client\)$/],
  ["failing", /^the remote agent was not reached: http:\S+\/failing answered 503$/],
  ["down", /^the remote agent was not reached: .*\/down/],
] as const) {
  test(`a token server that is ${name} fails the task with a reason that holds no secret, and the agent is not called`, async () => {
    const { status } = await send(name);
    assert.equal(status.state, "TASK_STATE_FAILED");
    assert.match(textOf(status.message), said);
    assert.ok(!JSON.stringify(status).includes(CLIENT_SECRET));
    assert.deepEqual(agents.arrivals(`/${name}`), []);
  });
}

test("a token that the agent refuses is fetched anew once, for the same call (RFC 6750 §3.1)", async () => {
  await assertDone("revoked");
  const [first = ""] = given.get("revoked") ?? [];
  revoked.add(first);
  // Uses a token that is some seconds old: a newer token is not replaced at its first refusal.
  await until(async () => {
    await new Promise((done) => setTimeout(done, 400));
    return send("revoked");
  }, ({ status }) => status.state === "TASK_STATE_COMPLETED");
  assert.equal(given.get("revoked")?.length, 2);
  const shown = agents.arrivals("/revoked").slice(-2).map(({ headers }) => headers.authorization);
  assert.deepEqual(shown, [`Bearer ${first}`, `Bearer ${given.get("revoked")?.[1]}`]);
  await assertDone("revoked");
  assert.equal(given.get("revoked")?.length, 2);
});

test("a token that the agent says is kept out of the task", async () => {
  const { artifacts } = await send("echoing");
  assert.deepEqual(artifacts?.map(textOf), ["you are Bearer [access token]"]);
});

test("no agent has seen the secret", () => {
  const forms = [CLIENT_SECRET, encodeURIComponent(CLIENT_SECRET), Buffer.from(CLIENT_SECRET).toString("base64").slice(0, -4)];
  for (const name of Object.keys(LIVES)) {
    for (const { path, headers, body } of agents.arrivals(`/${name}`)) {
      const text = path + JSON.stringify(headers) + body;
      assert.ok(forms.every((form) => !text.includes(form)), text);
      assert.ok(!/basic/i.test(headers.authorization ?? ""));
    }
  }
});
