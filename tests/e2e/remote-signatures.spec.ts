// Remotes with `verify`: the card of the remote agent must have a valid signature (spec §8.4), by a key from a host in the settings.
import assert from "node:assert/strict";
import { generateKeyPairSync, type JsonWebKey, type KeyObject } from "node:crypto";
import { after, before, test } from "node:test";
import { AgentCard, generateAgentCardSignature } from "@a2a-js/sdk";
import { Agent, textOf, type Task } from "./client.ts";
import { cardOf, withFronts, type Front } from "./fronts.ts";
import { startWorker, type Worker } from "./harness.ts";
import { done } from "./liars.ts";
import { Relay } from "./relay.ts";
import { Sink, type Arrival, type Deed } from "./sink.ts";

const [right, other] = [makeKey("right"), makeKey("right")];
/** The remote agents that sign with the SDK; another host. */
let sink: Sink, elsewhere: Sink;
/** A Worker that signs; the relay whose origin its cards contain; the Worker whose fronts verify. */
let signing: Worker, relay: Relay, worker: Worker;

/** Makes the card of an agent; some are made from a card that the SDK has signed. */
type Serve = (name: string) => Promise<object>;
const signed = (jku: () => string, key = right, kid = "right"): Serve => async (name) => {
  const card = AgentCard.fromJSON({ ...cardOf(`${sink.url}/${name}/rpc`), capabilities: {} });
  return AgentCard.toJSON(await generateAgentCardSignature(key.privateKey, { alg: "ES256", kid, typ: "JOSE", jku: jku() })(card)) as object;
};
const home = (): string => `${sink.url}/keys`;
const good = signed(home);
const changed: Serve = async (name) => ({ ...(await good(name)), description: "Does something else." });
const unsigned: Serve = async (name) => ({ ...(await good(name)), signatures: [] });

interface Case {
  card: Serve;
  settings: object | (() => object);
  /** The expected failure of the front, if any. */
  refusal?: RegExp;
}

const cases: Record<string, Case> = {
  "signed-by-the-sdk": { card: good, settings: { verify: "required" } },
  "signed-if-signed": { card: good, settings: { verify: "if-signed" } },
  "changed-afterwards": { card: changed, settings: { verify: "required" }, refusal: /its signature is wrong$/ },
  "changed-if-signed": { card: changed, settings: { verify: "if-signed" }, refusal: /its signature is wrong$/ },
  "changed-and-not-verified": { card: changed, settings: {} },
  "unsigned-required": { card: unsigned, settings: { verify: "required" }, refusal: /it is not signed$/ },
  "unsigned-if-signed": { card: unsigned, settings: { verify: "if-signed" } },
  "by-another-key": { card: signed(home, other), settings: { verify: "required" }, refusal: /its signature is wrong$/ },
  "by-an-unknown-key": { card: signed(home, right, "nobody"), settings: { verify: "required" }, refusal: /the key of its signature is not in the key set$/ },
  "keys-on-another-host": { card: signed(() => `${elsewhere.url}/keys`), settings: { verify: "required" }, refusal: /the key set of its signature is on a host that the settings do not name$/ },
  "keys-on-a-named-host": { card: signed(() => `${elsewhere.url}/keys`), settings: () => ({ verify: "required", jwks_hosts: [new URL(elsewhere.url).host] }) },
  "keys-that-are-private": { card: signed(() => `${sink.url}/private-keys`), settings: { verify: "required" }, refusal: /its signature is wrong$/ },
  "keys-out-of-reach": { card: signed(() => `${sink.url}/no-keys`), settings: { verify: "required" }, refusal: /\/no-keys answered 503$/ },
};

before(async () => {
  [sink, elsewhere, relay] = await Promise.all([Sink.open(), Sink.open(), Relay.open(() => signing.url)]);
  signing = await startWorker({ vars: { SIGNING_JWK: JSON.stringify(right.jwk), PUBLIC_URL: relay.url } });
  sink.otherwise = answer;
  elsewhere.otherwise = answer;
  const quick = { max_retries: 1, retry_delay_ms: 10 };
  const fronts: Record<string, Front> = { "signed-by-a-worker": { remote: { url: `${relay.url}/demo`, verify: "required", ...quick } } };
  for (const [name, { settings }] of Object.entries(cases)) {
    fronts[name] = { remote: { url: `${sink.url}/${name}`, ...quick, ...(typeof settings === "function" ? settings() : settings) } };
  }
  worker = await startWorker({ vars: { AGENTS: withFronts(fronts) } });
});
after(async () => {
  await Promise.all([worker.stop(), signing.stop()]);
  sink.close();
  elsewhere.close();
  relay.close();
});

async function answer({ path, method, body }: Arrival): Promise<Deed> {
  const json = (value: object): Deed => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(value) });
  const name = path.split("/")[1] ?? "";
  if (name === "keys") return json({ keys: [right.publicJwk] });
  if (name === "private-keys") return json({ keys: [right.jwk] });
  if (name === "no-keys") return { status: 503, body: "" };
  if (method === "GET") return json((await cases[name]?.card(name)) ?? {});
  const { id } = JSON.parse(body) as { id: unknown };
  return json({ jsonrpc: "2.0", id, result: { task: done("r-1", "hello") } });
}

const send = (name: string): Promise<Task> => new Agent(`${worker.url}/${name}`).sendForTask("hello");

for (const [name, { refusal }] of Object.entries(cases)) {
  test(`${name}: the remote agent is ${refusal === undefined ? "called" : "not called, and the task says why"} (§8.4.3)`, async () => {
    const { status } = await send(name);
    if (refusal === undefined) {
      assert.equal(status.state, "TASK_STATE_COMPLETED", textOf(status.message));
    } else {
      assert.equal(status.state, "TASK_STATE_FAILED");
      assert.match(textOf(status.message), /^the remote agent was not reached: /);
      assert.match(textOf(status.message), refusal);
    }
    const calls = sink.arrivals(`/${name}`).filter(({ method }) => method === "POST");
    assert.equal(calls.length, refusal === undefined ? 1 : 0);
    if (name === "keys-on-another-host") assert.equal(elsewhere.count("/keys"), 0, "nobody is asked whom the settings do not name");
  });
}

test("a Worker verifies the card of another Worker that signs (§8.4.3)", async () => {
  const task = await send("signed-by-a-worker");
  assert.deepEqual([task.status.state, task.artifacts?.map(textOf)], ["TASK_STATE_COMPLETED", ["hello"]], textOf(task.status.message));
});

test("a card that was verified is remembered, and its keys are not asked for again", async () => {
  const before = [sink.count("/keys"), sink.arrivals("/signed-by-the-sdk").length];
  await send("signed-by-the-sdk");
  assert.deepEqual([sink.count("/keys"), sink.arrivals("/signed-by-the-sdk").length], [before[0], (before[1] ?? 0) + 1]);
});

function makeKey(kid: string): { privateKey: KeyObject; jwk: JsonWebKey; publicJwk: JsonWebKey } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwkOf = (key: KeyObject): JsonWebKey => ({ ...key.export({ format: "jwk" }), kid, alg: "ES256" });
  return { privateKey, jwk: jwkOf(privateKey), publicJwk: jwkOf(publicKey) };
}
