// What the scripts say of secrets and variables that agents need.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { deployedOf, namesIn, needsOf } from "../../scripts/lib/needs.mjs";
import { makeOwnProject } from "./project.mjs";

const FACTS = JSON.stringify({
  agents: [
    { slug: "weather", needs: [{ name: "WEATHER_KEY", by: ["tool now", "tool later"] }, { name: "API_URL", by: ["tool now"] }] },
    { slug: "seats", needs: [{ name: "API_URL", by: ["executor seats"] }] },
    { slug: "plain" },
  ],
  remotes: [{ name: "archive", needs: [{ name: "API_URL", by: ["remote archive"] }] }, { name: "bare" }],
  mcp: [{ name: "files", table: {}, needs: [{ name: "API_URL", by: ["mcp files"] }] }],
});
const TABLE = [
  "    API_URL       tool now of the agent weather, executor seats of the agent seats, remote archive, mcp files",
  "    WEATHER_KEY   tool now of the agent weather, tool later of the agent weather",
].join("\n");

test("the names in a file of variables are those that are set to something", () => {
  const text = "A=1\n  B = two words \nexport C='x'\n# D=1\nE=\nF=''\nG=\"  \"\nH= # nothing\r\nI=`x`\r\nnot a line\nJ.k=\"a\nb\"\n";
  assert.deepEqual(namesIn(text), ["A", "B", "C", "I", "J.k"]);
});

let project, plain;
before(() => {
  project = makeOwnProject({ wrangler: "stand-in" });
  plain = project.read("wrangler.toml").replace("[vars]\nPLACES_URL = \"https://geocoding-api.open-meteo.com\"\n", "");
});
beforeEach(() => {
  project.write("wrangler.toml", plain);
  project.write("facts.json", FACTS);
  project.write("agents/one.toml", "one 1");
  project.write("calls.log", "");
  for (const name of [".dev.vars", ".env", "secrets.json", ".gitignore"]) project.remove(name);
});
after(() => project.remove());

describe("start", () => {
  test("makes .dev.vars with the names and who needs them, and never writes it again", async () => {
    const { output } = await project.run("start");
    assert.ok(output.includes(`Not set, or empty, so that what needs it fails:\n\n${TABLE}\n\n.dev.vars was made for them`), output);
    assert.match(output, /Add a line \.dev\.vars\* to \.gitignore/);
    const made = project.read(".dev.vars");
    assert.match(made, /^# tool now of the agent weather, tool later of the agent weather\nWEATHER_KEY=$/m);
    assert.deepEqual(namesIn(made), []);

    const again = await project.run("start");
    assert.ok(again.output.includes(`${TABLE}\n\nSet them in .dev.vars.\n`), again.output);
    assert.equal(project.read(".dev.vars"), made);
  });

  test("names the lines that .dev.vars lacks", async () => {
    project.write(".dev.vars", "API_URL=http://127.0.0.1:1\n");
    const { output } = await project.run("start");
    assert.match(output, /fails:\n\n {4}WEATHER_KEY {3}tool now[^\n]*\n\nSet it in \.dev\.vars, with the lines:\n\n {4}WEATHER_KEY=\n/);
    assert.equal(project.read(".dev.vars"), "API_URL=http://127.0.0.1:1\n");
  });

  test("makes no .dev.vars beside an .env, which wrangler would not read any more", async () => {
    project.write(".env", "API_URL=x\n");
    const { output } = await project.run("start");
    assert.match(output, /Set it in \.env, with the lines:\n\n {4}WEATHER_KEY=\n/);
    assert.ok(!project.exists(".dev.vars"));
  });

  test("says nothing when all is set, wherever that is", async () => {
    project.write("wrangler.toml", `${plain}\n[vars]\nAPI_URL = "x"\n`);
    const { output } = await project.run("start", "--var", "WEATHER_KEY:a:b");
    assert.doesNotMatch(output, /Not set/);
    project.write("facts.json", '{"agents": [{"slug": "plain"}]}');
    project.write("agents/one.toml", "changed");
    project.write("wrangler.toml", plain);
    assert.doesNotMatch((await project.run("start")).output, /Not set/);
    assert.ok(!project.exists(".dev.vars"));
  });

  test("does not ask for a line in .gitignore that is there", async () => {
    project.write(".gitignore", "/build/\n.dev.vars*\n");
    const { output } = await project.run("start");
    assert.match(output, /\.dev\.vars was made/);
    assert.doesNotMatch(output, /gitignore/);
  });
});

describe("deploy", () => {
  test("names what is not set, and how to set it", async () => {
    project.write("secrets.json", '[{"name": "OTHER", "type": "secret_text"}, {"name": "API_URL", "type": "secret_text"}]');
    const { code, output } = await project.run("deploy");
    assert.equal(code, 0, output);
    assert.match(output, /Not set, so that what needs it fails:\n\n {4}WEATHER_KEY {3}tool now[^\n]*\n\nTo set a secret:\n\n {4}npx a2a-edge wrangler secret put WEATHER_KEY\n/);
  });

  test("names what is needed before anything is made, and by its names again in the end", async () => {
    const { code, output } = await project.run("deploy");
    assert.equal(code, 0, output);
    const at = output.indexOf(`Not set, so that what needs it fails:\n\n${TABLE}\n`);
    assert.ok(at > 0 && at < output.indexOf("==> Making the queue"), output);
    assert.match(output, /\nNot set, as the report above says: API_URL, WEATHER_KEY\.\n/);
  });

  test("says so where the secrets are not known: without a login, and of a Worker whose secrets cannot be listed", async () => {
    project.write("whoami.json", '{"loggedIn":false}');
    const dry = await project.run("deploy", "--dry-run");
    project.remove("whoami.json");
    assert.ok(dry.output.includes(`The secrets of the Worker are not known. If these are not set, what needs them fails:\n\n${TABLE}`), dry.output);
    assert.ok(!project.calls().some(([, ...args]) => args[0] === "secret"));
    project.write("deployments.json", '[{"created_on": "2026-11-01T00:00:00Z", "versions": []}]');
    const unlisted = await project.run("deploy");
    project.remove("deployments.json");
    assert.equal(unlisted.code, 0, unlisted.output);
    assert.ok(unlisted.output.includes(`are not known. If these are not set, what needs them fails:\n\n${TABLE}`), unlisted.output);
  });

  test("counts the secrets of a file that is uploaded, as lines and as JSON", async () => {
    for (const text of ["API_URL=x\nWEATHER_KEY='y'\n", '{"API_URL": "x", "WEATHER_KEY": "y"}']) {
      project.write("uploaded.txt", text);
      const { code, output } = await project.run("deploy", "--secrets-file", "uploaded.txt");
      assert.equal(code, 0, output);
      assert.doesNotMatch(output, /Not set|secret put/);
      assert.doesNotMatch(output, /'y'|"y"/);
    }
    const absent = await project.run("deploy", "--secrets-file", "nowhere.txt");
    assert.equal(absent.code, 1);
    assert.match(absent.output, /nowhere\.txt of --secrets-file cannot be read \(ENOENT\)\. Give the path/);
  });

  test("says nothing when all is set", async () => {
    project.write("secrets.json", '[{"name": "WEATHER_KEY"}]');
    const { output } = await project.run("deploy", "--var", "API_URL:http://x");
    assert.doesNotMatch(output, /Not set|secret put/);
  });
});

test("an agent of development needs its variables for npm start, and not for what is deployed", async () => {
  const facts = {
    agents: [
      { slug: "local", development: true, needs: [{ name: "LOCAL_URL", by: ["executor http"] }, { name: "SHARED", by: ["executor http"] }] },
      { slug: "deployed", needs: [{ name: "SHARED", by: ["executor http"] }] },
    ],
  };
  project.write("facts.json", JSON.stringify(facts));
  project.write("agents/one.toml", "of development");
  const started = await project.run("start");
  assert.match(started.output, /^ {4}LOCAL_URL +executor http of the agent local$/m);
  project.remove(".dev.vars");
  const { output } = await project.run("start", "--as-deployed");
  assert.match(output, /^ {4}SHARED +executor http of the agent deployed$/m);
  assert.doesNotMatch(output, /LOCAL_URL/);
  // As `deploy` tells them.
  assert.deepEqual(needsOf(deployedOf(facts)), [{ name: "SHARED", by: ["executor http of the agent deployed"] }]);
});

test("the program behind wordcount is started for npm start alone, and its variable is no need", async () => {
  project.write("facts.json", JSON.stringify({ agents: [{ slug: "wordcount", needs: [{ name: "WORDCOUNT_URL", by: ["executor http"] }] }] }));
  project.write("agents/wordcount.toml", "wordcount");
  project.write("examples/http-agents/worker/agent.js", "export default {};");
  const urls = async (...args) => {
    const before = project.calls().length;
    const { output } = await project.run("start", ...args);
    const [, ...line] = project.calls().slice(before).find(([name, command]) => name === "wrangler" && command === "dev");
    return { output, urls: line.filter((argument) => argument.startsWith("WORDCOUNT_URL:")) };
  };
  const started = await urls();
  assert.match(started.urls.join(), /^WORDCOUNT_URL:http:\/\/127\.0\.0\.1:\d+$/);
  assert.doesNotMatch(started.output, /Not set/);
  const deployed = await urls("--as-deployed");
  assert.deepEqual(deployed.urls, []);
  assert.match(deployed.output, /Not set, or empty, so that what needs it fails:\n\n {4}WORDCOUNT_URL/);
  for (const path of ["agents/wordcount.toml", "examples"]) project.remove(path);
});
