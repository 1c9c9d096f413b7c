// Signed cards (spec §8.4): their verification, their unsigned members, and the replacement of keys.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createPublicKey, generateKeyPairSync, verify, type JsonWebKey } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { verifyAgentCardSignature } from "@a2a-js/sdk";
import { make } from "../../scripts/operate/secrets/values.mjs";
import { CARD, KEYS, askExtended, cardIn, startClub, type Card } from "./club.ts";
import { python, withoutPython } from "./python.ts";
import type { Worker } from "./harness.ts";
import { until } from "./client.ts";

const ISSUER = "https://agents.example";
const JWKS = "/.well-known/jwks.json";
const script = fileURLToPath(new URL("python/cards.py", import.meta.url));

const makeKey = (curve: "P-256" | "Ed25519", kid: string): JsonWebKey => {
  const { privateKey } = curve === "P-256" ? generateKeyPairSync("ec", { namedCurve: curve }) : generateKeyPairSync("ed25519");
  return { ...privateKey.export({ format: "jwk" }), kid };
};
/** As the command `keys` makes it, and another one. */
const [old, next] = [JSON.parse(make("signing")) as JsonWebKey, makeKey("Ed25519", "next")];

type Keys = { keys: JsonWebKey[] };
const keysOf = async ({ url }: Worker) => (await (await fetch(url + JWKS)).json()) as Keys;
const cardOf = async ({ url }: Worker, agent: string, headers: Record<string, string> = {}, path = CARD) =>
  (await (await fetch(`${url}/${agent}${path}`, { headers })).json()) as Card;

interface Header { alg: string; kid: string; typ: string; jku: string }
const headerOf = ({ protected: part }: { protected: string }) => JSON.parse(Buffer.from(part, "base64url").toString()) as Header;

/** The check of the official SDK: the JSON of the card with a lookup in the key set. */
const accepts = async (card: unknown, { keys }: Keys) => {
  const find = (kid: string) => {
    const key = keys.find((known) => known["kid"] === kid);
    if (key === undefined) throw new Error(`no key ${kid}`);
    return Promise.resolve(key as never);
  };
  const debug = console.debug;
  console.debug = () => undefined;
  try {
    return await verifyAgentCardSignature(find)(card as never).then(() => true, () => false);
  } finally {
    console.debug = debug;
  }
};

/** RFC 8785, implemented without an SDK. */
function jcs(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jcs).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jcs(member)}`).join(",")}}`;
}

/** The number of a card's signatures that are valid for this text. */
function fitting({ signatures = [] }: Card, payload: string, { keys }: Keys): number {
  const fits = ({ protected: part, signature }: { protected: string; signature: string }) => {
    const { kid, alg } = headerOf({ protected: part });
    const key = createPublicKey({ key: keys.find((known) => known["kid"] === kid) ?? {}, format: "jwk" });
    const input = Buffer.from(`${part}.${Buffer.from(payload).toString("base64url")}`);
    return verify(alg === "EdDSA" ? null : "sha256", input, { key, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"));
  };
  return signatures.filter(fits).length;
}

describe("with a key", () => {
  let worker: Worker;
  before(async () => {
    worker = await startClub({ PUBLIC_URL: ISSUER, SIGNING_JWK: JSON.stringify(old) });
  });
  after(() => worker.stop());

  for (const [agent, version, path] of [
    ["club", "1.0"], ["club"], ["club", undefined, "/.well-known/agent.json"], ["lodge"], ["locks"], ["locks", undefined, "/.well-known/agent.json"], ["demo"],
  ] as const) {
    const what = `the card of ${agent}${path === undefined ? "" : ` at ${path}`}${version === undefined ? "" : ` of version ${version}`}`;
    test(`the official SDK verifies ${what}, and refuses it when anything is changed (§8.4.3)`, async () => {
      const headers: Record<string, string> = version === undefined ? {} : { "a2a-version": version };
      const [card, keys] = [await cardOf(worker, agent, headers, path), await keysOf(worker)];
      assert.ok(await accepts(card, keys));
      const tampered: object[] = [
        { ...card, name: "Mallory" },
        { ...card, supportedInterfaces: [{ ...card.supportedInterfaces[0], url: "https://evil.example" }] },
        { ...card, skills: [...card.skills, { id: "x", name: "X", description: "x", tags: ["x"] }] },
        { ...card, securitySchemes: { evil: { httpAuthSecurityScheme: { scheme: "Bearer" } } } },
        { ...card, capabilities: { ...card.capabilities, streaming: false } },
        { ...card, signatures: [] },
        { ...card, signatures: (await cardOf(worker, agent === "demo" ? "club" : "demo")).signatures },
        { ...card, signatures: card.signatures?.map((one) => ({ ...one, signature: one.signature.replace(/^..../, "AAAA") })) },
      ];
      for (const changed of tampered) assert.ok(!(await accepts(changed, keys)), JSON.stringify(changed).slice(0, 200));
      assert.ok(!(await accepts(card, { keys: [{ ...makeKey("P-256", String(old["kid"])) }] })), "another key of that name");
    });
  }

  test("the protected header says how, by whom and where the key is (§8.4.2)", async () => {
    const { signatures } = await cardOf(worker, "demo", { "a2a-version": "1.0" });
    assert.equal(signatures?.length, 1, "a card all of whose forms are the same has one signature");
    assert.deepEqual(signatures?.map(headerOf), [{ alg: "ES256", kid: String(old["kid"]), typ: "JOSE", jku: ISSUER + JWKS }]);
  });

  test("there is a signature for the card as it is, as specified and as the SDKs have it, also in ASCII (§8.4.1)", async () => {
    const [{ signatures, ...card }, keys] = [await cardOf(worker, "club", { "a2a-version": "1.0" }), await keysOf(worker)];
    const signed = { ...card, signatures } as Card;
    assert.equal(signatures?.length, 4);
    const served = jcs(card);
    assert.equal(fitting(signed, served, keys), 1);
    assert.equal(fitting(signed, served.replaceAll('{"list":[]}', "{}"), keys), 1);
    assert.equal(fitting(signed, served.replace("Lets", "lets"), keys), 0);
  });

  for (const [path, number] of [[CARD, 7], ["/.well-known/agent.json", 7]] as const) {
    test(`a card that older clients read, at ${path}, is signed as it is, too (§8.4.1)`, async () => {
      const [{ signatures, ...card }, keys] = [await cardOf(worker, "club", {}, path), await keysOf(worker)];
      const signed = { ...card, signatures } as Card;
      assert.equal(signatures?.length, number, "as it is: with empty lists and without them; as 1.0 knows it: 4; as 0.3 knows it");
      const served = jcs(card);
      assert.match(served, /"preferredTransport":"JSONRPC"/);
      assert.equal(fitting(signed, served, keys), 1);
      assert.equal(fitting(signed, served.replaceAll('{"list":[]}', "{}"), keys), 1);
      assert.equal(fitting(signed, served.replace("Lets", "lets"), keys), 0);
    });
  }

  test("the extended card of each caller is signed (§8.4)", async () => {
    const keys = await keysOf(worker);
    for (const binding of ["JSONRPC", "HTTP+JSON"] as const) {
      const cards = await Promise.all((["guest", "insider"] as const).map(async (who) =>
        cardIn(binding, await askExtended(binding, `${worker.url}/club`, { "x-club-key": KEYS[who] }))));
      for (const card of cards) assert.ok(await accepts(card, keys));
      assert.ok(!(await accepts({ ...cards[0], signatures: cards[1]?.signatures }, keys)), "each its own");
    }
  });

  test("the Python SDK verifies cards, and refuses changed ones (§8.4.3)", { skip: withoutPython }, async () => {
    const { stdout } = await promisify(execFile)(python, [script, "verify", worker.url]);
    assert.equal(stdout.trim(), "verify: ok");
  });

  test("a signed card keeps its ETag when it is signed anew, and its signatures while the instance lives (§8.6)", async () => {
    const ask = async () => {
      const response = await fetch(`${worker.url}/demo${CARD}`);
      return { etag: response.headers.get("etag") ?? "", ...((await response.json()) as Card) };
    };
    const first = await ask();
    assert.deepEqual(await ask(), first);
    await worker.restart();
    const known = await fetch(`${worker.url}/demo${CARD}`, { headers: { "if-none-match": first.etag } });
    assert.equal(known.status, 304);
    const again = await ask();
    assert.equal(again.etag, first.etag);
    assert.notDeepEqual(again.signatures, first.signatures, "ECDSA gives other bytes each time");
    const head = await fetch(`${worker.url}/demo${CARD}`, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("etag"), await head.text()], [200, first.etag, ""]);
  });
});

test("with two keys both sign, and a client that knows either accepts; the key set has both (§8.4.3)", async (t) => {
  const vars = { PUBLIC_URL: ISSUER, SIGNING_JWK: JSON.stringify({ keys: [next, old] }), WEBHOOK_JWK: JSON.stringify(makeKey("P-256", "unread")) };
  const worker = await startClub(vars);
  t.after(() => worker.stop());
  const { keys } = await keysOf(worker);
  assert.deepEqual(keys.map(({ kid, alg }: JsonWebKey) => [kid, alg]), [["next", "EdDSA"], [old["kid"], "ES256"]]);
  assert.ok(keys.every((key) => !("d" in key)));
  for (const agent of ["club", "demo"]) {
    const card = await cardOf(worker, agent);
    for (const key of keys) assert.ok(await accepts(card, { keys: [key] }), String(key["kid"]));
    assert.equal(await accepts(card, { keys: [] }), false);
  }
});

describe("the header Host is the client's word", () => {
  let worker: Worker;
  before(async () => {
    worker = await startClub({ ORIGINS: "http://eu.agents.example:8080, https://us.agents.example", WEBHOOK_JWK: JSON.stringify(next) });
  });
  after(() => worker.stop());

  /** The card for a request with these headers; undefined if it is refused. */
  async function cardFor(headers: Record<string, string>, path = `/demo${CARD}`): Promise<Card | undefined> {
    const [response] = await once(request(worker.url, { path, headers }).end(), "response");
    const body = await text(response);
    return response.statusCode === 200 ? (JSON.parse(body) as Card) : undefined;
  }

  test("a card at an origin that is listed is signed, and names it (§8.4)", async () => {
    for (const host of ["eu.agents.example:8080", "EU.Agents.example:8080"]) {
      const card = await cardFor({ host });
      assert.equal(card?.supportedInterfaces[0]?.url, "http://eu.agents.example:8080/demo");
      assert.ok(await accepts(card, await keysOf(worker)));
      assert.equal(headerOf(card?.signatures?.[0] ?? { protected: "" }).jku, `http://eu.agents.example:8080${JWKS}`);
    }
  });

  for (const [what, headers, path] of [
    ["another host", { host: "evil.example" }],
    ["no port", { host: "eu.agents.example" }],
    ["another port", { host: "eu.agents.example:8081" }],
    ["a full stop behind the host", { host: "eu.agents.example.:8080" }],
    ["a host below ours", { host: "x.eu.agents.example:8080" }],
    ["a host that begins like ours", { host: "eu.agents.example.evil.example:8080" }],
    ["ours as a user name", { host: "eu.agents.example:8080@evil.example" }],
    ["two hosts", { host: "evil.example, eu.agents.example:8080" }],
    ["ours in a header of proxies", { host: "evil.example", "x-forwarded-host": "eu.agents.example:8080", forwarded: "host=eu.agents.example:8080" }],
    ["another scheme", { host: "us.agents.example" }],
    ["look-alikes", { host: "eu.agents.xn--exmple-4ve:8080" }],
    ["ours in the path", { host: "evil.example" }, `/demo${CARD}?http://eu.agents.example:8080`],
  ] as [string, Record<string, string>, string?][]) {
    test(`a card for ${what} is not signed (§8.4)`, async () => {
      const card = await cardFor(headers, path);
      if (card === undefined) return;
      assert.ok(!("signatures" in card), JSON.stringify(card.signatures));
      assert.notEqual(new URL(card.supportedInterfaces[0]?.url ?? "").origin, "http://eu.agents.example:8080");
    });
  }

  test("an extended card is signed where the public one is (§8.4)", async () => {
    const post = async (host: string) => cardFor({ host, "x-club-key": KEYS.member, "a2a-version": "1.0" }, "/club/extendedAgentCard");
    assert.ok(await accepts(await post("eu.agents.example:8080"), await keysOf(worker)));
    assert.ok(!("signatures" in ((await post("evil.example")) ?? { signatures: [] })));
  });
});

test("without a key, or with one that the platform refuses, cards are served unsigned (§8.4)", async (t) => {
  const foreign = { ...makeKey("P-256", "k"), d: makeKey("P-256", "k")["d"] ?? "" };
  for (const [vars, told] of [[{}, 0], [{ SIGNING_JWK: JSON.stringify(foreign) }, 1], [{ SIGNING_JWK: "{}" }, 1]] as const) {
    const worker = await startClub({ PUBLIC_URL: ISSUER, ...vars });
    t.after(() => worker.stop());
    const response = await fetch(`${worker.url}/demo${CARD}`);
    assert.equal(response.status, 200);
    const card = (await response.json()) as Card;
    assert.ok(!("signatures" in card), JSON.stringify(vars));
    const lines = () => worker.logs.filter(({ message }) => message.includes("SIGNING_JWK"));
    await until(async () => lines().length, (count) => count >= told);
    assert.equal(lines().length, told, JSON.stringify(lines()));
    assert.ok(!worker.logs.some(({ message }) => message.includes(foreign.d)));
  }
});
