// The addresses of this machine that `deploy` names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { localAddresses } from "../../scripts/lib/local-addresses.mjs";

test("addresses of this machine are named with their files, others and those of agents of development are not", () => {
  const agent = (slug, table, more = {}) => ({ slug, executor: { kind: "http", table }, ...more });
  const text = localAddresses({
    agents: [
      agent("far", { url: "https://localhost.example/turn", headers: { a: "${BASE}/localhost" } }),
      agent("near", { url: "http://127.0.0.1:8790/turn" }, { tools: [{ name: "look", url: "http://localhost/{what}" }] }),
      agent("tried", { url: "http://localhost:1" }, { development: true }),
    ],
    remotes: [{ name: "weather", table: { url: "http://[::1]:8787/weather" } }],
    mcp: [{ name: "files", table: { url: "https://files.example/mcp" } }],
  });
  assert.deepEqual(text?.split("\n").slice(2), [
    "    http://127.0.0.1:8790/turn   agents/near.toml",
    "    http://localhost/{what}   agents/near.toml",
    "    http://[::1]:8787/weather   remotes.toml, [remote.weather]",
  ]);
  assert.equal(localAddresses({ agents: [agent("far", { url: "https://a.example" })] }), undefined);
});
