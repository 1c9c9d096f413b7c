// Projects, as `node create/index.mjs` makes them. The step `package` of `npm test` makes some of the packed packages, and runs their commands.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { RESERVED, agentFile, fetchCard, slugOf } from "../../create/lib/agent-card.mjs";
import { nameProblem, placeOf, projectFiles } from "../../create/lib/project.mjs";
import { CARD, OLD_CARD, serving } from "./cards.mjs";
import { root } from "./project.mjs";

let folder, tarball;
before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "a2a-edge-create-")));
  tarball = join(folder, "a2a-edge-9.9.9.tgz");
  writeFileSync(tarball, "the package");
});
after(() => rmSync(folder, { recursive: true, force: true }));

const checkout = resolve(root);
const script = join(checkout, "create", "index.mjs");

function make(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, "--no-install", "--package", tarball, ...args], { cwd: folder, encoding: "utf8" });
  return { code: status, output: stdout + stderr };
}

/** The texts of a made project by their paths. */
function textsOf(made) {
  const files = readdirSync(made, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(files.map((entry) => join(entry.parentPath, entry.name)).map((path) => [path.slice(made.length + 1), readFileSync(path, "utf8")]));
}

test("a project has the files of the template under its own name, and the package in its folder vendor", () => {
  const { code, output } = make("some-agents");
  assert.equal(code, 0, output);
  const texts = textsOf(join(folder, "some-agents"));
  for (const [path, text] of texts) assert.doesNotMatch(text, /my[-_]agents/, path);
  assert.match(texts.get("wrangler.toml"), /^name = "some-agents"$/m);
  assert.match(texts.get("wrangler.toml"), /^queue = "some-agents-webhooks-dead"$/m);
  assert.match(texts.get("wrangler.toml"), /^\[observability\]\nenabled = true$/m);
  for (const line of [".dev.vars*", "!.dev.vars.example", "/.a2a-edge/"]) assert.ok(texts.get(".gitignore").split("\n").includes(line), line);
  assert.equal(texts.get("vendor/a2a-edge-9.9.9.tgz"), "the package");
  assert.equal(JSON.parse(texts.get("package.json")).dependencies["a2a-edge"], "file:vendor/a2a-edge-9.9.9.tgz");
  for (const path of [".github/workflows/ci.yml", ".github/dependabot.yml", ".dev.vars.example", ".taplo.toml", "README.md", "src/index.ts"]) assert.ok(texts.has(path), path);
  assert.ok(![...texts.keys()].some((path) => /\.rs$|^Cargo/.test(path)), "no Rust");
  assert.match(output, /npm install\n {4}npm start/);
});

test("with Rust, it has a crate besides, and uses the crate of this checkout", () => {
  const { code, output } = make("rust-agents", "--rust");
  assert.equal(code, 0, output);
  const texts = textsOf(join(folder, "rust-agents"));
  const basic = projectFiles(join(folder, "rust-agents"), { npm: "1.2.3" });
  for (const path of basic.keys()) assert.ok(texts.has(path), path);
  assert.match(texts.get("Cargo.toml"), /^name = "rust-agents"$/m);
  assert.match(texts.get("Cargo.toml"), /^\[workspace\]$/m);
  const [[, path]] = texts.get("Cargo.toml").matchAll(/path = "([^"]*)"/g);
  assert.equal(resolve(folder, "rust-agents", path), checkout);
  assert.ok(texts.get("wrangler.toml").startsWith(basic.get("wrangler.toml")));
  assert.match(texts.get("wrangler.toml"), /^\[alias\]\n"a2a-edge\/engine" = "\.\/\.a2a-edge\/engine\.js"$/m);
  const manifest = JSON.parse(texts.get("package.json"));
  assert.deepEqual(Object.keys(manifest.devDependencies), ["@a2a-js/sdk", "binaryen", "esbuild", "typescript", "wrangler", "zod"]);
  assert.equal(manifest.name, "rust-agents");
  assert.equal([...texts.values()].filter((text) => /^default = true$/m.test(text)).length, 1);
});

test("the packages of a project have the versions that were tested here, and this Node", () => {
  const read = (...parts) => JSON.parse(readFileSync(join(checkout, ...parts), "utf8"));
  const own = read("package.json");
  for (const template of ["basic", "rust"]) {
    for (const [name, version] of Object.entries(read("create", "templates", template, "package.json").devDependencies)) assert.equal(version, own.devDependencies[name], name);
  }
  const { version, engines } = read("create", "package.json");
  assert.deepEqual({ version, engines }, { version: own.version, engines: own.engines });
  assert.equal(own.engines.node, read("node_modules", "wrangler", "package.json").engines.node);
  assert.match(readFileSync(join(checkout, "Cargo.toml"), "utf8"), new RegExp(`^version = "${own.version}"$`, "m"));
});

test("names and places where a project could not work are refused, and nothing is made", () => {
  mkdirSync(join(folder, "full"));
  writeFileSync(join(folder, "full", "a"), "");
  for (const [args, problem] of [
    [[], /A folder for the project is missing\.\n\nUsage: /],
    [["one", "two"], /There is no argument "two"/],
    [["one", "--rusty"], /Unknown option '--rusty'[^]*Usage: /],
    [["My_Agents"], /The name "My_Agents" must be lower-case letters, digits and single dashes/],
    [["a".repeat(49)], /at most 48/],
    [["2nd"], /beginning with a letter/],
    [["loop", "--rust"], /"loop" is a word of Rust/],
    [["serde", "--rust"], /"serde" is the name of a crate that the project needs/],
    [["full"], /is not empty/],
    [[join(checkout, "docs", "agents")], /is inside of a2a-edge/],
    [["one", "--package", "nowhere.tgz"], /There is no file nowhere\.tgz/],
    [["one", "--package", script], /--package needs a tarball/],
  ]) {
    const { code, output } = make(...args);
    assert.equal(code, 1, output);
    assert.match(output, problem);
  }
  assert.deepEqual(readdirSync(folder).filter((name) => name === "one"), []);
  assert.deepEqual(readdirSync(join(folder, "full")), ["a"]);
});

test("every name is one for a Worker and its queues, and with Rust for a crate", () => {
  for (const name of ["a", "my-agents", "agents2", "a".repeat(48)]) {
    assert.equal(nameProblem(name), undefined, name);
    assert.equal(nameProblem(name, { rust: true }), undefined, name);
  }
  for (const name of ["", "-a", "a-", "a--b", "a_b", "a.b", "ä", "a2a-edge"]) assert.ok(nameProblem(name), name);
  for (const name of ["test", "serde"]) assert.deepEqual([nameProblem(name), typeof nameProblem(name, { rust: true })], [undefined, "string"]);
});

test("a name alone, given within the checkout, becomes a folder beside it", () => {
  assert.equal(placeOf("mine", checkout, checkout, resolve), join(dirname(checkout), "mine"));
  assert.equal(placeOf("mine", join(checkout, "docs"), checkout, resolve), join(dirname(checkout), "mine"));
  assert.equal(placeOf("mine", "/somewhere", checkout, resolve), "/somewhere/mine");
  assert.equal(placeOf("mine", "/somewhere", undefined, resolve), "/somewhere/mine");
  assert.equal(placeOf("./mine", checkout, checkout, resolve), join(checkout, "mine"));
});

test("a project names the packages by version once they are published", () => {
  const files = projectFiles("/somewhere/mine", { npm: "1.2.3", crate: 'version = "1.2.3"' });
  assert.match(files.get("Cargo.toml"), /^a2a-edge = \{ version = "1\.2\.3", default-features = false \}$/m);
  assert.equal(JSON.parse(files.get("package.json")).dependencies["a2a-edge"], "1.2.3");
  for (const [path, text] of files) assert.ok(!text.includes("../.."), path);
});

test("until then nothing is fetched by these names: outside of a checkout, the tarball has to be given", () => {
  const alone = join(folder, "installed", "node_modules", "create-a2a-edge");
  cpSync(join(checkout, "create"), alone, { recursive: true });
  cpSync(join(checkout, "Cargo.lock"), join(alone, "templates", "rust", "Cargo.lock"));
  const run = (...args) => spawnSync(process.execPath, [join(alone, "index.mjs"), "--no-install", ...args], { cwd: folder, encoding: "utf8" });
  assert.match(run("alone").stderr, /a2a-edge is in no registry yet\. Give its tarball, which a release has: --package FILE/);
  assert.match(run("alone", "--rust", "--package", tarball).stderr, /--rust works in a checkout of a2a-edge alone/);
  const { status, stdout } = run("alone", "--package", tarball);
  assert.equal(status, 0);
  assert.match(stdout, /in its folder vendor: keep that in git/);
});

test("without a network, the project stays, and the message says what to do", () => {
  const npm = join(folder, "bin", "npm");
  mkdirSync(dirname(npm));
  writeFileSync(npm, "#!/bin/sh\necho 'npm error network request failed' >&2\nexit 1\n", { mode: 0o755 });
  const env = { ...process.env, PATH: `${dirname(npm)}:${process.env.PATH}` };
  const { status, stderr } = spawnSync(process.execPath, [script, "--package", tarball, "no-network"], { cwd: folder, encoding: "utf8", env });
  assert.equal(status, 1);
  assert.ok(stderr.includes(`The project is in ${join(folder, "no-network")}, but npm install failed there:\n\nnpm error network request failed\n\n    With a network, run there: npm install`), stderr);
  assert.ok(existsSync(join(folder, "no-network", "package.json")));
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
    await assert.rejects(fetchCard(`${origin}/page`), /There is no agent card:\n\n {4}.*\/page: not JSON\n.*agent-card\.json: status 404\n/);
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
