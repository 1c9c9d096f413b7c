// Hostile skills on a remote agent's card; and skills from an agent of the same Worker, from the front itself, or from servers of the SDK.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { verifyAgentCardSignature } from "@a2a-js/sdk";
import { until } from "./client.ts";
import { Elsewhere, ask, cardOf, idsOf, skill, withLearners, type Card } from "./elsewhere.ts";
import { secret, startWorker, type Worker } from "./harness.ts";
import { startServer, startServerOf03, type SampleServer } from "./servers/js.ts";

const ORIGIN = "https://agents.example";
const PRECIOUS = secret("PRECIOUS", "a-value-that-no-card-may-show");
const EVIL = "{origin}/${PRECIOUS} {{origin}origin} </title><script>alert('1')</script> \"},\"name\":\"Mallory\" \u0000\u202e";

let elsewhere: Elsewhere;
let worker: Worker;
let servers: SampleServer[] = [];
before(async () => {
  elsewhere = await Elsewhere.open();
  servers = await Promise.all([startServer(), startServerOf03()]);
  const evil = { name: EVIL, description: EVIL, tags: [EVIL], examples: [EVIL] };
  elsewhere.has("evil", [skill(`evil {origin}`, { ...evil, securityRequirements: [{ schemes: { evil: { list: [] } } }], iconUrl: "javascript:x", origin: ORIGIN })], {
    name: "Mallory",
    description: EVIL,
    securitySchemes: { evil: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
    securityRequirements: [{ schemes: { evil: { list: [] } } }],
    capabilities: { streaming: true, extensions: [{ uri: "urn:evil", required: true }] },
    signatures: [{ protected: "e30", signature: "AAAA" }],
  });
  elsewhere.has("many", [skill("one", { description: "x".repeat(9_000) }), ...Array.from({ length: 150 }, (_, nth) => skill(`s${nth}`)), skill("own")]);
  elsewhere.has("values", [skill("far")], { more: Array.from({ length: 30_000 }, () => 0) });
  elsewhere.has("nested", [skill("far")], { more: Array.from({ length: 110 }).reduce((inner) => [inner], 0) });
  elsewhere.has("deep", [skill("deep")]);
  elsewhere.has("tooled", [skill("dig"), skill("fill")]);
  const agents = JSON.parse(
    withLearners(elsewhere, {
      evil: { skills: [skill("own")], card: { name: "Front" } },
      many: { skills: [skill("own")] },
      values: { skills: [skill("own")] },
      nested: { skills: [skill("own")] },
      deep: {},
      over: { remote: "deep", own: [{ id: "deep", name: "Deeper" }] },
      script: { remote: "demo" },
      tooled: { mcp: { tools: "skills" } },
      here: { remote: "there", skills: [skill("here")] },
      there: { remote: "here", skills: [skill("there")] },
      self: { skills: [skill("self")] },
      sdk: {},
      sdk03: {},
    }),
  ) as { remotes: { name: string; table: { url: string } }[] };
  const urls: Record<string, string> = { sdk: servers[0]?.url ?? "", sdk03: servers[1]?.url ?? "" };
  for (const remote of agents.remotes) remote.table.url = urls[remote.name] ?? remote.table.url;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = JSON.stringify({ ...privateKey.export({ format: "jwk" }), kid: "k" });
  worker = await startWorker({ vars: { AGENTS: JSON.stringify(agents), PUBLIC_URL: ORIGIN, SIGNING_JWK: key, PRECIOUS } });
});
after(async () => {
  await worker.stop();
  elsewhere.close();
  await Promise.all(servers.map((server) => server.stop()));
});

const ids = async (slug: string): Promise<string[]> => idsOf(await cardOf(worker, slug));

/** True if the official SDK accepts the signature of a card. */
async function isGenuine(card: Card): Promise<boolean> {
  const { keys } = (await (await fetch(`${worker.url}/.well-known/jwks.json`)).json()) as { keys: never[] };
  const debug = console.debug;
  console.debug = () => undefined;
  try {
    return await verifyAgentCardSignature(() => Promise.resolve(keys[0] as never))(card as never).then(() => true, () => false);
  } finally {
    console.debug = debug;
  }
}

describe("a hostile card", () => {
  test("gives texts and nothing else, and they stay as they are", async () => {
    const card = await cardOf(worker, "evil");
    assert.equal(card.name, "Front");
    const [own, learned, ...others] = card.skills;
    assert.deepEqual(own, skill("own"));
    assert.deepEqual(learned, { id: "evil {origin}", name: EVIL, description: EVIL, tags: [EVIL], examples: [EVIL] });
    assert.deepEqual(others, []);
    const text = JSON.stringify(card);
    for (const foreign of ["urn:evil", "securityRequirements", "securitySchemes", "httpAuth", "javascript:", PRECIOUS]) {
      assert.ok(!text.includes(foreign), foreign);
    }
    const older = await cardOf(worker, "evil", { "a2a-version": "0.3" });
    assert.equal(older.skills[1]?.description, EVIL);
    assert.ok(!JSON.stringify(older).includes("\"security\""));
  });

  test("is signed as it is shown", async () => {
    const card = await cardOf(worker, "evil");
    assert.equal(await isGenuine(card), true);
    assert.equal(await isGenuine({ ...card, skills: card.skills.slice(1) }), false);
  });

  test("cannot put anything on the page", async () => {
    const page = await (await ask(worker, "evil", { accept: "text/html" }, "")).text();
    assert.ok(!page.includes("<script") && page.includes("&lt;script&gt;alert(&#39;1&#39;)"));
    assert.ok(page.includes("<strong>{origin}/${PRECIOUS} {{origin}origin} "), page);
  });

  test("with more than fits gives what fits", async () => {
    const known = await ids("many");
    assert.deepEqual(known, ["own", ...Array.from({ length: 100 }, (_, nth) => `s${nth}`)]);
  });

  for (const [name, what] of [["values", "of more JSON values than are read"], ["nested", "that is nested too deep"]] as const) {
    test(`${what} gives nothing`, async () => {
      assert.deepEqual(await ids(name), ["own"]);
      assert.ok(elsewhere.asked(name).length > 0);
    });
  }
});

describe("a front of an agent of the same Worker", () => {
  test("has the public skills of that, and no server is asked", async () => {
    assert.deepEqual(await ids("script"), await ids("demo"));
    assert.ok((await ids("script")).length > 0);
  });

  test("has what that has learned itself", async () => {
    const card = await cardOf(worker, "over");
    assert.deepEqual(card.skills.map(({ id, name }) => [id, name]), [["deep", "Deeper"]]);
    assert.deepEqual(await ids("deep"), ["deep"]);
    assert.equal(elsewhere.asked("deep").length, 1);
  });

  test("ends where two are fronts of each other", async () => {
    assert.deepEqual(await ids("here"), ["here", "there"]);
    assert.deepEqual(await ids("there"), ["there", "here"]);
  });
});

test("a front of itself over HTTP ends, too, with its own skills", async () => {
  elsewhere.leads("self", worker.url);
  assert.deepEqual(await ids("self"), ["self"]);
  await until(() => ask(worker, "self"), (response) => /max-age=300/.test(response.headers.get("cache-control") ?? ""));
  assert.deepEqual(await ids("self"), ["self"]);
});

test("hosts of MCP see learned skills as tools, also before anybody asks for the card", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const text = await (await fetch(`${worker.url}/tooled/mcp`, { method: "POST", headers, body })).text();
  assert.ok(text.includes("Does dig.") && text.includes("Does fill."), text);
  assert.equal(elsewhere.asked("tooled").length, 1);
});

for (const slug of ["sdk", "sdk03"]) {
  test(`a front of a server of the ${slug === "sdk" ? "newest SDK" : "SDK of 0.3"} has the skills of its card`, async () => {
    const card = await cardOf(worker, slug);
    assert.ok(card.skills.length > 0);
    for (const { name, description, tags } of card.skills) assert.ok(name !== "" && description !== "" && tags.length > 0);
    assert.equal(await isGenuine(card), true);
  });
}
