// Projects of one's own, as `node scripts/new.mjs` makes them. The step `own-agent` of `npm test` builds one and calls it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { RESERVED, agentFile, fetchCard, slugOf } from "../../scripts/lib/agent-card.mjs";
import { nameProblem, placeOf, projectFiles } from "../../scripts/lib/new-project.mjs";
import { CARD, OLD_CARD, serving } from "./cards.mjs";
import { root } from "./project.mjs";

let folder;
before(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), "a2a-edge-new-")))));
after(() => rmSync(folder, { recursive: true, force: true }));

const checkout = resolve(root);
const script = join(checkout, "scripts", "new.mjs");

function make(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, "--no-install", ...args], { cwd: folder, encoding: "utf8" });
  return { code: status, output: stdout + stderr };
}

test("a project has the example's files under its own name, and uses this checkout", () => {
  const { code, output } = make("some-agents");
  assert.equal(code, 0, output);
  const made = join(folder, "some-agents");
  const files = readdirSync(made, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = new Map(files.map((entry) => [join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name), "utf8")]));
  for (const [path, text] of texts) if (!path.endsWith("Cargo.lock")) assert.doesNotMatch(text, /own[-_]agent/, path);
  const text = (path) => texts.get(join(made, path));
  assert.match(text("wrangler.toml"), /^name = "some-agents"$/m);
  assert.match(text("wrangler.toml"), /^queue = "some-agents-webhooks-dead"$/m);
  assert.match(text(".gitignore"), /^\.dev\.vars\*$/m);
  assert.match(text("wrangler.toml"), /^\[assets\]\ndirectory = "build-console\/assets"$/m);
  assert.match(text(".gitignore"), /^\/build-\*\/$/m);
  assert.match(text("Cargo.toml"), /^\[workspace\]$/m);
  for (const [, path] of text("Cargo.toml").matchAll(/path = "([^"]*)"/g)) assert.ok(existsSync(resolve(made, path, "Cargo.toml")), path);
  assert.equal(resolve(made, JSON.parse(text("package.json")).dependencies["a2a-edge"].replace("file:", "")), checkout);
  assert.match(output, /npm start/);
});

test("names and places where a project could not work are refused, and nothing is made", () => {
  mkdirSync(join(folder, "full"));
  writeFileSync(join(folder, "full", "a"), "");
  for (const [args, problem] of [
    [[], /A folder for the project is missing\.\n\nUsage: /],
    [["one", "two"], /There is no argument "two"/],
    [["My_Agents"], /The name "My_Agents" must be lower-case letters, digits and single dashes/],
    [["a".repeat(49)], /at most 48/],
    [["2nd"], /beginning with a letter/],
    [["loop"], /"loop" is a word of Rust/],
    [["serde"], /"serde" is the name of a crate that the project needs/],
    [["full"], /is not empty/],
    [[join(checkout, "docs", "agents")], /is inside of a2a-edge/],
  ]) {
    const { code, output } = make(...args);
    assert.equal(code, 1, output);
    assert.match(output, problem);
  }
  assert.deepEqual(readdirSync(join(folder, "full")), ["a"]);
});

test("every name is one for a crate, a Worker and its queues", () => {
  for (const name of ["a", "my-agents", "agents2", "a".repeat(48)]) assert.equal(nameProblem(name), undefined, name);
  for (const name of ["", "-a", "a-", "a--b", "a_b", "a.b", "ä", "a2a-edge", "test"]) assert.ok(nameProblem(name), name);
});

test("a name alone, given within the checkout, becomes a folder beside it", () => {
  assert.equal(placeOf("mine", checkout, resolve), join(dirname(checkout), "mine"));
  assert.equal(placeOf("mine", join(checkout, "docs"), resolve), join(dirname(checkout), "mine"));
  assert.equal(placeOf("mine", "/somewhere", resolve), "/somewhere/mine");
  assert.equal(placeOf("./mine", checkout, resolve), join(checkout, "mine"));
});

test("when the packages are published, a project names their version, and its CI checks out nothing else", () => {
  const files = projectFiles("/somewhere/mine", { published: "1.2.3" });
  assert.match(files.get("Cargo.toml"), /^a2a-edge = \{ version = "1\.2\.3", default-features = false \}$/m);
  assert.equal(JSON.parse(files.get("package.json")).dependencies["a2a-edge"], "^1.2.3");
  assert.doesNotMatch(files.get(".github/workflows/ci.yml"), /A2A_EDGE_REPOSITORY/);
  for (const [path, text] of files) assert.ok(!text.includes("../.."), path);
});

test("a card is found at its URL, at the well-known places of a server, and below the URL of an agent", async () => {
  const answers = { "/a/card": CARD, "/.well-known/agent-card.json": CARD, "/b/.well-known/agent.json": OLD_CARD, "/page": "<html>" };
  await serving(answers, async (origin) => {
    for (const [path, found] of [
      ["/a/card", "/a/card"], ["", "/.well-known/agent-card.json"], ["/", "/.well-known/agent-card.json"],
      ["/b", "/b/.well-known/agent.json"], ["/b/?x=1", "/b/.well-known/agent.json"],
    ]) {
      assert.equal((await fetchCard(origin + path)).url, origin + found);
    }
    await assert.rejects(fetchCard(`${origin}/page`), /There is no agent card:\n\n {4}.*\/page: no JSON\n.*agent-card\.json: status 404\n/);
  });
  await assert.rejects(fetchCard("weather"), /needs the URL of an agent card/);
  await assert.rejects(fetchCard("file:///etc/passwd"), /by http or https, not by "file:"/);
});

test("what is no card is refused with the reason", async () => {
  const answers = { "/list": [], "/nameless": { skills: [] }, "/skilless": { name: "A" }, "/large": " ".repeat(1_100_000), "/null": "null" };
  await serving(answers, async (origin) => {
    for (const [path, problem] of [
      ["/list", "JSON, but no object"], ["/null", "JSON, but no object"], ["/nameless", "it has no name"], ["/skilless", "it has no skills"],
      ["/large", "larger than 1048576 bytes"],
    ]) {
      await assert.rejects(fetchCard(origin + path), new RegExp(`${path}: .*${problem}`));
    }
  });
  const { code, output } = make("of-no-card", "--from-card", "http://127.0.0.1:1/");
  assert.equal(code, 1);
  assert.match(output, /There is no agent card:/);
  assert.ok(!existsSync(join(folder, "of-no-card")));
});

test("an agent file says what the card says, and answers examples by rules", () => {
  const { text, left } = agentFile(CARD, "https://weather.example/card");
  assert.deepEqual(left, []);
  assert.equal(text, `# From https://weather.example/card: what it is called and can do. What it answers are rules to begin with: replace them.
name = "Weather"
description = "Tells the weather."
version = "1.0.0"
input_modes = ["text/plain"]
output_modes = ["text/plain"]

[[skills]]
id = "today"
name = "Today"
description = "The weather of today."
tags = ["weather"]
examples = ["Lisbon"]

[executor]
kind = "script"

[[executor.script.rules]]
when = { text = "Lisbon" }
then = [
  { do = "working" },
  { do = "artifact", id = "answer", text = "Here comes what Today answers to: {text}" },
  { do = "complete" },
]

[[executor.script.rules]]
then = [{ do = "complete", text = "I got: {text}\\nI can do: Today." }]
`);
});

test("older cards are read, and what cannot be taken over is named", () => {
  const { text, left } = agentFile(OLD_CARD, "https://cafe.example/card");
  assert.deepEqual(left, ["extensions", "security schemes", "the extended card"]);
  assert.match(text, /^name = "Câfé \\"Zoë\\"\\n\[executor\]"$/m);
  assert.match(text, /back\\\\slashes\\u007f\."$/m);
  assert.match(text, /^input_modes = \["text\/plain"\]\noutput_modes = \["text\/plain", "application\/json"\]$/m);
  assert.match(text, /^\[capabilities\]\nstreaming = false\npush_notifications = true$/m);
  assert.deepEqual(text.match(/^id = .*$/gm), ['id = "brew"', 'id = "brew-2"']);
  assert.equal(text.match(/^when = /gm).length, 2, "an example is one rule");
  assert.match(text, /what Brew \{\{strong\}\} answers to: \{text\}/);
  assert.doesNotMatch(text, /icon_url/);
});

test("an agent file gets a name of its own that the build accepts", () => {
  for (const [name, slug] of [
    ["Weather", "weather"], ["Zoë's 2nd Café!", "zoe-s-2nd-cafe"], ["42 answers", "answers"], ["日本", "imported"], ["Agent", "agent-agent"],
    ["Links", "links-agent"], ["a".repeat(80), "a".repeat(50)],
  ]) {
    assert.equal(slugOf({ name }, ["links", "pages"]), slug);
  }
  assert.equal(slugOf({ name: "Links" }, ["links", "links-agent"]), "links-2");
  const [, list] = /RESERVED: \[&str; \d+\] = \[([^\]]*)\]/.exec(readFileSync(join(checkout, "crates", "agents", "src", "slug.rs"), "utf8"));
  assert.deepEqual([...list.matchAll(/"([^"]+)"/g)].map(([, word]) => word).sort(), [...RESERVED].sort());
});
