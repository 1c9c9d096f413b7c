// The official clients with their own authentication: they read the card, authenticate with one of its schemes, and get
// the extended card (spec §7.3, §3.1.11).
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory, createAuthenticatingFetchWithRetry,
  type AuthenticationHandler,
} from "@a2a-js/sdk/client";
import { KEYS, TOKEN, jwt, startClub } from "./club.ts";
import { python, withoutPython } from "./python.ts";
import type { Worker } from "./harness.ts";

let worker: Worker;
before(async () => {
  worker = await startClub();
});
after(() => worker.stop());

const script = fileURLToPath(new URL("python/cards.py", import.meta.url));
const runPython = async (...args: string[]) => (await promisify(execFile)(python, [script, ...args])).stdout.trim().split("\n");

const WAYS = [
  { agent: "club", scheme: "key", credential: KEYS.insider, headers: { "x-club-key": KEYS.insider }, skills: ["current_time", "echo", "add_numbers"] },
  { agent: "club", scheme: "token", credential: TOKEN, headers: { authorization: `Bearer ${TOKEN}` }, skills: ["echo", "add_numbers"] },
  ...[["oauth", jwt({ scope: "sum" })], ["oidc", jwt({ iss: "https://oidc.example", scope: "sum" })]].map(([scheme = "", credential = ""]) => ({
    agent: "lodge", scheme, credential, headers: { authorization: `Bearer ${credential}` }, skills: ["echo", "add_numbers"],
  })),
];

for (const binding of ["JSONRPC", "HTTP+JSON"] as const) {
  for (const { agent, scheme, credential, headers, skills } of WAYS) {
    test(`the JS SDK asks again with what its handler knows of ${scheme}, over ${binding} (§7.3)`, async () => {
      const asked: number[] = [];
      let known: Record<string, string> = {};
      const handler: AuthenticationHandler = {
        headers: () => Promise.resolve(known),
        shouldRetryWithHeaders: (_, response) => {
          asked.push(response.status);
          return Promise.resolve(response.status === 401 ? headers : undefined);
        },
        onSuccessfulRetry: (learned) => {
          known = learned as Record<string, string>;
          return Promise.resolve();
        },
      };
      const fetchImpl = createAuthenticatingFetchWithRetry(fetch, handler);
      const transports = [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })];
      const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports, preferredTransports: [binding] });
      const client = await new ClientFactory(options).createFromUrl(`${worker.url}/${agent}/`, ".well-known/agent-card.json");
      for (let round = 0; round < 2; round += 1) {
        const card = await client.getAgentCard();
        assert.deepEqual(card.skills.map(({ id }) => id), skills);
      }
      assert.deepEqual(asked, [401, 200], "the second time it knew");
    });

    test(`the Python SDK sends what its credential service has for ${scheme}, over ${binding} (§7.3)`, { skip: withoutPython }, async () => {
      const [shown, ended] = await runPython("use", worker.url, binding, agent, scheme, credential);
      assert.deepEqual(JSON.parse(shown ?? ""), skills);
      assert.equal(ended, "use: ok");
    });
  }
}

test("the Python SDK reads the cards of all schemes, and knows each of their members (§4.5)", { skip: withoutPython }, async () => {
  assert.deepEqual(await runPython("read", worker.url), ["read: ok"]);
});
