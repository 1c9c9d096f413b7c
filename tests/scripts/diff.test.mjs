// What `deploy --diff` tells of the agents of a project and those that run: pure, and by the command against a server in the place of a deployment.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { freePort } from "../../scripts/lib/port.mjs";
import { differencesOf, differencesText, ownAgents } from "../../scripts/lib/diff.mjs";
import { makeOwnProject, version } from "./project.mjs";

const SKILL = { id: "add", name: "Add", description: "Adds." };
const cardOf = (origin, about = {}) => ({ name: "A", version: "1.0.0", supportedInterfaces: [{ url: `${origin}/a` }, { url: origin }], capabilities: { streaming: true }, skills: [SKILL], ...about });
const fact = (about = {}, card = {}) => ({ slug: "a", default: true, access: { open: true }, card: JSON.stringify(cardOf("{origin}", card)), ...about });
const running = (about = {}, card = {}) => ({ slug: "a", isDefault: true, access: "anybody", card: cardOf("https://agents.example.com", card), ...about });
const told = (facts, agents, about = {}) => differencesOf(ownAgents({ agents: facts }), { agents, isDevelopment: false, ...about }).map(({ kind, text }) => `${kind}: ${text}`);

describe("differences", () => {
  test("of the same agent are none, wherever it runs", () => {
    assert.deepEqual(told([fact()], [running()]), []);
    assert.deepEqual(told([fact()], [running({}, { signatures: [{ protected: "x" }] })]), [], "signatures belong to a deployment");
    assert.equal(differencesText([], "https://x", version, version), `Nothing differs from https://x, which runs a2a-edge ${version}: agents, cards, access and skills are the same.`);
  });

  test("are agents that come and go, and agents of development, which no deployment has", () => {
    assert.deepEqual(told([fact(), fact({ slug: "b", default: false })], [running(), running({ slug: "c", isDefault: false })]), ["added: b is new: it does not run there", "removed: c goes: it runs there, and the project does not have it"]);
    assert.deepEqual(told([fact({ development: true })], [running()]), ["removed: a goes: it runs there, and the project does not deploy it (development = true)"]);
    assert.deepEqual(told([fact({ development: true })], []), []);
    assert.deepEqual(told([fact({ development: true })], [running()], { isDevelopment: true }), [], "a server of development serves them");
  });

  test("are members of the card, short ones with both values", () => {
    assert.deepEqual(told([fact({}, { version: "1.1.0", description: "x".repeat(50), provider: undefined })], [running({}, { provider: { url: "https://p" } })]), ["card: a: the card differs in version (1.0.0 → 1.1.0), description, provider"]);
    assert.deepEqual(told([fact()], [running({}, { capabilities: { streaming: false } })]), ["card: a: the card differs in capabilities"]);
    assert.deepEqual(told([fact()], [running({}, { version: "\u001b[31m2" })]), ["card: a: the card differs in version (\\x1b[31m2 → 1.0.0)"], "nothing controls the terminal");
    assert.deepEqual(told([fact()], [running({}, { supportedInterfaces: [{ url: "https://agents.example.com/b" }] })]), ["card: a: the card differs in supportedInterfaces"]);
  });

  test("are who may call, and which agent is the default", () => {
    const schemes = { key: { kind: "api_key" } };
    assert.deepEqual(told([fact({ access: { schemes } })], [running()]), ["access: a: anybody may call what runs, and callers with credentials what is in the project"]);
    assert.deepEqual(told([fact({ access: undefined })], [running({ access: "callers with credentials" })]), ["access: a: callers with credentials may call what runs, and nobody what is in the project"]);
    assert.deepEqual(told([fact({ access: undefined })], [running()], { isDevelopment: true }), [], "in development anybody may");
    assert.deepEqual(told([fact({ default: false })], [running()]), ["default: a is no longer the default agent"]);
    assert.deepEqual(told([fact()], [running({ isDefault: false })]), ["default: a becomes the default agent"]);
  });

  test("are skills: added, removed and changed; those that need permissions only where a key shows them", () => {
    const other = { id: "sub", name: "Sub", description: "Subtracts." };
    assert.deepEqual(told([fact({}, { skills: [other, { ...SKILL, description: "Adds two numbers." }] })], [running({}, { skills: [SKILL, { id: "old" }] })]), ["skills: a: skills +sub -old ~add (description)"]);
    const restricted = [{ position: 1, permissions: ["x"], skill: other }];
    assert.deepEqual(told([fact({ restricted })], [running()]), [], "the public card does not show it");
    assert.deepEqual(told([fact({ restricted })], [running({ extended: [SKILL, other] })]), []);
    assert.deepEqual(told([fact({ restricted })], [running({ extended: [SKILL, { ...other, name: "S" }] })]), ["skills: a: skills ~sub (name)"]);
    assert.deepEqual(told([fact()], [running({ extended: [SKILL, other] })]), ["skills: a: skills -sub"]);
    assert.deepEqual(told([fact({ restricted })], [running({}, { skills: [SKILL, other] })]), ["skills: a: skills -sub"], "what was public needs a permission now");
    assert.deepEqual(told([fact({ learned: { parts: [], own: [] } })], [running({}, { skills: [SKILL, other] })]), [], "what is learned is not in the project");
  });

  test("of a card that the Worker of the project shows, with the skills of registered tools", () => {
    const shown = cardOf("http://127.0.0.1:8787", { skills: [SKILL, { id: "registered" }] });
    const differs = differencesOf(ownAgents({ agents: [fact()] }, { a: shown }), { agents: [running({}, { skills: [SKILL, { id: "registered" }] })] });
    assert.deepEqual(differs, []);
  });

  test("of a server with members without end are cut", () => {
    const [text] = told([fact()], [running({}, Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`m${at}`, at])))]);
    assert.ok(text.startsWith("card: a: the card differs in m0, m1, ") && text.length < 1100 && text.endsWith("…"), text);
  });

  test("of a server that answers with anything else are told, too", () => {
    for (const card of [{}, { skills: "x", supportedInterfaces: 7 }, { skills: [null, 7, { id: 7 }], supportedInterfaces: [null] }]) {
      assert.ok(told([fact()], [{ slug: "a", isDefault: true, access: "anybody", card }]).length > 0);
    }
  });
});

describe("the command", () => {
  let project, server, url;
  /** What the server answers, by paths; all else is not found. */
  let answers = {};
  before(async () => {
    project = makeOwnProject({ wrangler: "stand-in" });
    project.write("facts.json", JSON.stringify({ agents: [fact()] }));
    server = createServer(({ url, headers }, response) => {
      // An answer may be for one key alone.
      const answer = answers[`${url} ${headers["x-key"]}`] ?? answers[url];
      if (answer === "hang") return;
      response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" }).end(typeof answer === "string" ? answer : JSON.stringify(answer ?? {}));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${server.address().port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
    project.remove();
  });

  const runs = (agents, cards) => {
    answers = { "/console/api/agents": { version: "0.5.0", development: false, agents }, ...cards };
  };
  const listed = { slug: "a", isOpen: true, isDefault: true, access: { securitySchemes: {} } };

  test("ends with 0 where nothing differs, with 6 where something does, and makes nothing", async () => {
    runs([listed], { "/a/.well-known/agent-card.json": cardOf(url) });
    const same = await project.run("deploy", "--diff", url);
    assert.deepEqual([same.code, same.output], [0, `Nothing differs from ${url}, which runs a2a-edge 0.5.0 (the project has ${version}): agents, cards, access and skills are the same.\n`]);
    runs([listed, { ...listed, slug: "b", isDefault: false }], { "/a/.well-known/agent-card.json": cardOf(url, { version: "2.0.0" }), "/b/.well-known/agent-card.json": cardOf(url) });
    const other = await project.run("deploy", "--diff", url);
    assert.equal(other.code, 6, other.output);
    assert.match(other.output, /:\n\n {4}a: the card differs in version \(2\.0\.0 → 1\.0\.0\)\n {4}b goes: it runs there/);
    const json = await project.run("deploy", "--diff", url, "--json");
    assert.deepEqual(json.output.trim().split("\n").map((line) => JSON.parse(line)).map(({ agent, kind }) => [agent, kind]), [["a", "card"], ["b", "removed"]]);
    assert.ok(!project.calls().some(([name, command]) => name === "wrangler" && command !== undefined));
  });

  test("reads the skills that a key of yours may use, and nothing more where the key may not ask", async () => {
    const secret = "a-key-of-an-operator";
    const guarded = { ...listed, isOpen: false, capabilities: { extendedAgentCard: true }, access: { securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } } } } };
    project.write("facts.json", JSON.stringify({ agents: [fact({ access: { schemes: { key: { kind: "api_key" } } } })] }));
    project.write("agents/one.toml", "with a key");
    runs([guarded], { "/a/.well-known/agent-card.json": cardOf(url), [`/a/extendedAgentCard ${secret}`]: cardOf(url, { skills: [SKILL, { id: "old" }] }) });
    const without = await project.run("deploy", "--diff", url);
    assert.equal(without.code, 0, without.output);
    project.env.A2A_EDGE_KEY = secret;
    const withKey = await project.run("deploy", "--diff", url);
    assert.deepEqual([withKey.code, /^ {4}a: skills -old$/m.test(withKey.output), withKey.output.includes(secret)], [6, true, false], withKey.output);
    project.env.A2A_EDGE_KEY = "another";
    assert.equal((await project.run("deploy", "--diff", url)).code, 0);
    delete project.env.A2A_EDGE_KEY;
    project.write("facts.json", JSON.stringify({ agents: [fact()] }));
    project.write("agents/one.toml", "one 1");
  });

  test("says what to do where the server cannot be compared, and where the project is wrong", async () => {
    const ends = async (code, reason, ...args) => {
      const ended = await project.run("deploy", "--diff", ...args);
      assert.equal(ended.code, code, ended.output);
      assert.match(ended.output, reason);
      assert.doesNotMatch(ended.output, /^ +at /m, "no stack");
    };
    answers = {};
    await ends(5, /is no server of a2a-edge: it does not list its agents\. Is the URL right\?/, url);
    answers = { "/console/api/agents": "<html>" };
    await ends(5, /did not answer with JSON\. Is there a server of a2a-edge/, url);
    runs([listed], { "/a/.well-known/agent-card.json": "{".repeat(100_000) });
    await ends(5, /did not answer with JSON/, url);
    runs([listed], { "/a/.well-known/agent-card.json": "[".repeat(100_000) + "]".repeat(100_000) });
    await ends(5, /did not answer with JSON|cannot be shown/, url);
    await ends(5, /cannot be reached \(nothing listens there\)/, `http://127.0.0.1:${await freePort()}`);
    await ends(2, /is at an https URL/, "ftp://a.example");
    runs([listed], { "/a/.well-known/agent-card.json": cardOf(url) });
    project.write("agents/one.toml", "mistake");
    await ends(2, /agents\/one\.toml:1: there is no "mistake"/, url);
    project.write("agents/one.toml", "one 1");
    await ends(2, /wrangler\.toml has no environment "staging"/, url, "--env", "staging");
  });

  test("gives up on a server that does not answer in time", async () => {
    answers = { "/console/api/agents": "hang" };
    project.env.A2A_EDGE_TIMEOUT_MS = "300";
    const { code, output } = await project.run("deploy", "--diff", url);
    delete project.env.A2A_EDGE_TIMEOUT_MS;
    assert.equal(code, 5);
    assert.match(output, /did not answer in time\. Is it the right URL\?/);
  });
});
