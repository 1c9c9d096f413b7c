// Extended cards, read by the official clients of A2A 0.3.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk-0.3/client";
import { KEYS, startClub } from "./club.ts";
import type { Worker } from "./harness.ts";
import { pythonV03, withoutPythonV03 } from "./python.ts";
import { TRANSPORTS } from "./v03.ts";

const walk = fileURLToPath(new URL("python/v03.py", import.meta.url));

let worker: Worker;
before(async () => {
  worker = await startClub();
});
after(() => worker.stop());

const fetchImpl: typeof fetch = (url, init) => fetch(url, { ...init, headers: { ...(init?.headers as Record<string, string>), "x-club-key": KEYS.insider } });
const factories = { "JSONRPC": new JsonRpcTransportFactory({ fetchImpl }), "HTTP+JSON": new RestTransportFactory({ fetchImpl }) };

for (const transport of TRANSPORTS) {
  test(`the client for JavaScript gets the extended card over ${transport} (A2A 0.3 §7.10)`, async () => {
    const client = await new ClientFactory({ transports: [factories[transport]], preferredTransports: [transport] })
      .createFromUrl(`${worker.url}/club/`, ".well-known/agent-card.json");
    const card = await client.getAgentCard();
    assert.deepEqual(card.skills.map(({ id }) => id).sort(), ["add_numbers", "current_time", "echo"]);
    const scheme = card.securitySchemes?.["key"];
    assert.deepEqual(scheme?.type === "apiKey" && [scheme.in, scheme.name], ["header", "X-Club-Key"]);
  });

  test(`the client for Python gets the extended card over ${transport} (A2A 0.3 §7.10)`, { skip: withoutPythonV03 }, async () => {
    const { stdout } = await promisify(execFile)(pythonV03, [walk, worker.url, transport, KEYS.insider]);
    assert.equal(stdout.trim(), `${transport} card: ok`);
  });
}
