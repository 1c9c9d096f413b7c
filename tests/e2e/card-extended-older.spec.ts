// The extended card for clients of older versions, by each of their ways to request it (A2A 0.3 §7.10, A2A 0.2).
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { CARD, KEYS, TOKEN, jwt, skillsOf, startClub, type Card } from "./club.ts";
import { until } from "./client.ts";
import type { Worker } from "./harness.ts";

const OLD_CARD = "/.well-known/agent.json";

let worker: Worker;
before(async () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  worker = await startClub({ PUBLIC_URL: "https://agents.example", SIGNING_JWK: JSON.stringify(privateKey.export({ format: "jwk" })) });
});
after(() => worker.stop());

type OlderCard = Card & { preferredTransport?: string; security?: unknown; authentication?: unknown };
type Headers = Record<string, string>;

const key = (who: keyof typeof KEYS): Headers => ({ "x-club-key": KEYS[who] });

const WAYS: { way: string; ask: (agent: string, headers: Headers, method?: string) => Promise<Response>; isRpc?: true }[] = [
  {
    way: "agent/getAuthenticatedExtendedCard", isRpc: true,
    ask: (agent, headers) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "agent/getAuthenticatedExtendedCard" });
      return fetch(`${worker.url}/${agent}`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
    },
  },
  ...["/v1/card", "/agent/authenticatedExtendedCard", OLD_CARD].map((path) => ({
    way: path, ask: (agent: string, headers: Headers, method = "GET") => fetch(`${worker.url}/${agent}${path}`, { method, headers }),
  })),
];

for (const { way, ask, isRpc } of WAYS) {
  describe(way, () => {
    const cardIn = async (response: Response) => {
      const body = (await response.json()) as OlderCard & { result: OlderCard };
      return isRpc ? body.result : body;
    };

    for (const [agent, who, headers, skills] of [
      ["club", "a guest", key("guest"), ["echo"]],
      ["club", "an insider", key("insider"), ["current_time", "echo", "add_numbers"]],
      ["club", "a holder of the token", { authorization: `Bearer ${TOKEN}` }, ["echo", "add_numbers"]],
      ["lodge", "a holder of a JWT", { authorization: `Bearer ${jwt({ scope: "sum" })}` }, ["echo", "add_numbers"]],
    ] as const) {
      test(`${who} of ${agent} sees the skills that it may use, in the shape of 0.3 (A2A 0.3 §7.10)`, async () => {
        const response = await ask(agent, headers);
        assert.equal(response.status, 200);
        assert.equal(response.headers.get("cache-control"), "private, no-store");
        assert.equal(response.headers.get("etag"), null);
        const { skills: shown, signatures, ...card } = await cardIn(response);
        assert.deepEqual(shown.map(({ id }) => id), skills);
        assert.ok((signatures ?? []).length > 0, "it is signed as the public one is");
        const path = way === OLD_CARD ? OLD_CARD : CARD;
        const { skills: _, signatures: __, ...expected } = (await (await fetch(`${worker.url}/${agent}${path}`)).json()) as OlderCard;
        assert.equal(expected.preferredTransport, "JSONRPC");
        assert.deepEqual(card, expected, "all else is as in the public card");
      });
    }

    for (const [who, headers] of [["nobody", {}], ["a stranger", { "x-club-key": "stranger-key-0000000000" }]] as const) {
      if (way === OLD_CARD) {
        test(`${who} gets the public card, which caches keep apart (§8.2)`, async () => {
          const response = await ask("club", headers);
          assert.equal(response.status, 200);
          assert.match(response.headers.get("cache-control") ?? "", /^public/);
          const vary = (response.headers.get("vary") ?? "").toLowerCase().split(", ");
          for (const name of ["a2a-version", "x-club-key", "authorization"]) assert.ok(vary.includes(name), name);
          assert.deepEqual(skillsOf(await cardIn(response)), ["echo"]);
        });
      } else {
        test(`${who} is told how to prove who they are (§7.4)`, async () => {
          const response = await ask("club", headers);
          assert.equal(response.status, 401);
          assert.match(response.headers.get("www-authenticate") ?? "", /ApiKey realm="club"/);
          assert.ok(!(await response.text()).includes("add_numbers"));
        });
      }
    }

    test("an agent that speaks no older version has none (§3.6.2)", async () => {
      const response = await ask("picky", {});
      if (way === OLD_CARD) return assert.ok(!("preferredTransport" in (await cardIn(response))));
      assert.match(await response.text(), /VERSION_NOT_SUPPORTED/);
    });
  });
}

test("bad credentials for the oldest card are told to audits, and none are not (§13.1)", async () => {
  const ask = async (headers: Headers) => (await fetch(`${worker.url}/club${OLD_CARD}`, { headers })).text();
  const lines = (request: string) => worker.logs.filter(({ message }) => message.includes('"event":"') && message.includes(`"request":"${request}"`));
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  await ask({ "cf-ray": first });
  await ask({ "cf-ray": second, "x-club-key": "stranger-key-0000000000" });
  const [line] = await until(() => Promise.resolve(lines(second)), ({ length }) => length > 0);
  assert.match(line?.message ?? "", /"event":"authentication failed","agent":"club"/);
  assert.deepEqual(lines(first), []);
});

test("the answer to HEAD of the oldest card has no body, whoever asks (§8.2)", async () => {
  for (const headers of [{}, key("insider")]) {
    const response = await fetch(`${worker.url}/club${OLD_CARD}`, { method: "HEAD", headers });
    assert.deepEqual([response.status, await response.text()], [200, ""]);
  }
});
