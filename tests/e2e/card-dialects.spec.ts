// Cards for clients of older versions: which card a request gets, and its members (spec §3.6, §8; A2A 0.3 §5.5).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DefaultAgentCardResolver } from "@a2a-js/sdk/client";
import { CARD, VARS, startClub, type Card } from "./club.ts";
import { startWorker, type Worker } from "./harness.ts";

const OLD_CARD = "/.well-known/agent.json";

interface OlderCard extends Card {
  protocolVersion?: string;
  url?: string;
  preferredTransport?: string;
  additionalInterfaces?: { url: string; transport: string }[];
  supportsAuthenticatedExtendedCard?: boolean;
  security?: unknown;
  authentication?: { schemes: string[] };
  defaultInputModes: string[];
}

let worker: Worker;
before(async () => {
  worker = await startClub();
});
after(() => worker.stop());

const ask = (agent: string, path: string, version?: string, { url } = worker) =>
  fetch(`${url}/${agent}${path}`, { headers: version === undefined ? {} : { "a2a-version": version } });
const cardOf = async (...asked: Parameters<typeof ask>) => (await (await ask(...asked)).json()) as OlderCard;

/** The older members of a card: no such members, those of 0.3, or also those of the family `tasks/send`. */
const kindOf = (card: OlderCard) => {
  if (card.defaultInputModes.includes("text")) return card.protocolVersion === undefined ? "tasks/send alone" : "oldest";
  return card.url === undefined ? "1.0" : "0.3";
};

describe("the card of an agent", () => {
  for (const [agent, path, version, kind] of [
    ["club", CARD, undefined, "0.3"], ["club", CARD, "", "0.3"], ["club", CARD, "0.3", "0.3"], ["club", CARD, "0.3.0", "0.3"],
    ["club", CARD, "1.0", "1.0"], ["club", CARD, "1.0.1", "1.0"], ["club", CARD, "1.4", "1.0"], [`club`, `${CARD}?A2A-Version=1.0`, undefined, "1.0"],
    ["club", OLD_CARD, undefined, "oldest"], ["club", OLD_CARD, "0.3", "0.3"], ["club", OLD_CARD, "1.0", "1.0"],
    ["lodge", CARD, undefined, "0.3"], ["lodge", OLD_CARD, undefined, "0.3"],
    ["numbers", CARD, undefined, "1.0"], ["numbers", OLD_CARD, undefined, "tasks/send alone"],
    ["picky", CARD, undefined, "1.0"], ["picky", OLD_CARD, undefined, "1.0"],
  ] as const) {
    test(`${agent} at ${path} with the version ${JSON.stringify(version) ?? "left out"} is that of ${kind} (§8.2)`, async () => {
      const response = await ask(agent, path, version);
      assert.equal(response.status, 200);
      assert.match(response.headers.get("vary") ?? "", /\ba2a-version\b/i);
      assert.equal(kindOf((await response.json()) as OlderCard), kind);
    });
  }

  for (const [agent, version, cards] of [
    ["club", "99.0", "1.0 or 0.3"], ["club", "0.2", "1.0 or 0.3"], ["numbers", "0.3", "1.0"], ["numbers", "abc", "1.0"],
  ] as const) {
    test(`${agent} of the version ${version} is refused with what to send instead (§3.6.2)`, async () => {
      for (const path of [CARD, OLD_CARD]) {
        const response = await ask(agent, path, version);
        assert.equal(response.status, 400);
        const { error } = (await response.json()) as { error: { message: string; details: { reason: string }[] } };
        assert.equal(error.details[0]?.reason, "VERSION_NOT_SUPPORTED");
        assert.ok(error.message.includes(`of A2A ${version};`) && error.message.includes(`send A2A-Version: ${cards}, or no version`), error.message);
      }
    });
  }

  test("each form of a card has an ETag of its own, for HEAD and 304 as well (§8.6)", async () => {
    const etags = new Set<string>();
    for (const [path, version] of [[CARD, undefined], [CARD, "1.0"], [OLD_CARD, undefined]] as const) {
      const headers: Record<string, string> = version === undefined ? {} : { "a2a-version": version };
      const etag = (await ask("club", path, version)).headers.get("etag") ?? "";
      const head = await fetch(`${worker.url}/club${path}`, { method: "HEAD", headers });
      assert.deepEqual([head.status, head.headers.get("etag"), await head.text()], [200, etag, ""]);
      const known = await fetch(`${worker.url}/club${path}`, { headers: { ...headers, "if-none-match": etag } });
      assert.equal(known.status, 304);
      assert.match(known.headers.get("vary") ?? "", /^A2A-Version\b/);
      etags.add(etag);
    }
    assert.equal(etags.size, 3);
  });
});

test("what a client of 1.0 reads is in every form of the card, and the same (§4.4.1)", async () => {
  for (const agent of ["club", "lodge", "locks"]) {
    const [pure, older] = [await cardOf(agent, CARD, "1.0"), await cardOf(agent, CARD)];
    const [{ securitySchemes = {}, capabilities, ...others }, { securitySchemes: flat = {}, ...added }] = [pure, older];
    for (const [name, member] of Object.entries(others)) assert.deepEqual(added[name as keyof typeof added], member, name);
    for (const [name, scheme] of Object.entries(securitySchemes)) {
      const [[kind = "", inner] = []] = Object.entries(scheme);
      assert.deepEqual(flat[name]?.[kind], inner, "in its own member");
      assert.equal(typeof flat[name]?.["type"], "string", "and as 0.3 has it");
    }
    for (const [name, value] of Object.entries(capabilities)) assert.deepEqual((added.capabilities as Record<string, unknown>)[name], value);
  }
});

test("a client of 0.3 finds its interfaces, and what proves who it is (A2A 0.3 §5.5)", async () => {
  const url = `${worker.url}/club`;
  const card = await cardOf("club", CARD);
  assert.equal(card.protocolVersion, "0.3.0");
  assert.equal(card.url, url);
  assert.equal(card.preferredTransport, "JSONRPC");
  assert.deepEqual(card.additionalInterfaces, [{ url, transport: "JSONRPC" }, { url, transport: "HTTP+JSON" }]);
  assert.equal(card.supportsAuthenticatedExtendedCard, true);
  assert.equal((card.capabilities as Record<string, unknown>)["stateTransitionHistory"], true, "the agent file says so");
  assert.deepEqual(card.security, [{ key: [] }, { token: [] }]);
  assert.deepEqual(card.securitySchemes?.["key"], {
    apiKeySecurityScheme: { location: "header", name: "X-Club-Key" }, type: "apiKey", in: "header", name: "X-Club-Key",
  });
  const interfaces = card.supportedInterfaces as unknown as { protocolBinding: string; protocolVersion: string }[];
  assert.deepEqual(interfaces.map(({ protocolBinding, protocolVersion }) => [protocolBinding, protocolVersion]), [
    ["JSONRPC", "1.0"], ["HTTP+JSON", "1.0"], ["JSONRPC", "0.3"], ["HTTP+JSON", "0.3"],
  ]);
});

test("a client of 0.1 finds its words (A2A 0.1)", async () => {
  const card = await cardOf("club", OLD_CARD);
  assert.equal(card.url, `${worker.url}/club`);
  assert.deepEqual(card.authentication, { schemes: ["ApiKey", "Bearer"] });
  assert.deepEqual(card.defaultInputModes, ["text", "application/json"]);
  assert.deepEqual((await cardOf("locks", OLD_CARD)).authentication, { schemes: ["ApiKey", "Bearer", "cookie", "Basic"] }, "each once");
  const alone = await cardOf("numbers", OLD_CARD);
  assert.deepEqual([alone.url, alone.preferredTransport, alone.authentication], [`${worker.url}/numbers`, undefined, undefined]);
});

test("the official client for 1.0 makes one card of every form (§8.3)", async () => {
  const version = (headers: RequestInit["headers"]) => new Headers(headers).get("a2a-version");
  for (const agent of ["club", "lodge", "locks"]) {
    const asked: (string | null)[] = [];
    const resolve = async (isOlder: boolean) => {
      const fetchImpl: typeof fetch = (url, init) => {
        asked.push(version(init?.headers));
        return fetch(url, isOlder ? {} : init);
      };
      return new DefaultAgentCardResolver({ fetchImpl, legacyCompat: { enabled: true } }).resolve(`${worker.url}/${agent}/`, `.${CARD}`);
    };
    const [own, older] = [await resolve(false), await resolve(true)];
    assert.deepEqual(asked, ["1.0", "1.0"], "it says its version");
    const interfaces = ({ supportedInterfaces }: typeof own) => supportedInterfaces.map(({ url, protocolBinding, protocolVersion }) => [url, protocolBinding, protocolVersion]);
    assert.deepEqual(interfaces(older), interfaces(own));
    assert.equal(older.capabilities?.extendedAgentCard, own.capabilities?.extendedAgentCard);
  }
});

test("CARD_DIALECTS=1.0 serves the card of 1.0 to everybody (§4.4.1)", async (t) => {
  const pure = await startWorker({ vars: { ...VARS, CARD_DIALECTS: "1.0" } });
  t.after(() => pure.stop());
  const expected = await cardOf("club", CARD, "1.0", pure);
  for (const path of [CARD, OLD_CARD]) assert.deepEqual(await cardOf("club", path, undefined, pure), expected);
  assert.equal(kindOf(expected), "1.0");
  assert.equal((await ask("club", CARD, "0.3", pure)).status, 400);
});
