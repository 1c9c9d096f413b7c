// The option --with: other Workers are started beside that of the project, which calls them by service bindings.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freePort } from "../../scripts/lib/port.mjs";
import { makeOwnProject, until } from "./project.mjs";

const WORKER = `export default {
  fetch(request) {
    console.log("is asked");
    return new Response("words of " + new URL(request.url).pathname);
  },
};
`;

let project;
before(() => {
  project = makeOwnProject();
  project.write("../words/wrangler.toml", 'name = "words"\nmain = "index.js"\ncompatibility_date = "2026-11-17"\n');
  project.write("../words/index.js", WORKER);
  project.write("../empty/README.md", "");
  project.write("wrangler.toml", `${project.read("wrangler.toml")}\n[[services]]\nbinding = "WORDS"\nservice = "words"\n`);
});
after(() => project.remove());

const portOptions = async () => ["--port", String(await freePort()), "--inspector-port", String(await freePort())];

test("the other Worker is served and called, its lines have its name, and it ends with the command", async () => {
  const options = await portOptions();
  const start = project.start("start", ...options, "--with", "../words");
  try {
    await until(() => start.output.includes("a2a-edge serves at") || start.child.exitCode !== null, "it serves");
    assert.match(start.output, /^==> Starting the Worker words of \.\.\/words\n {4}done in /m);
    const url = `http://127.0.0.1:${options[1]}/words`;
    const words = async () => (await fetch(url)).text();
    await until(async () => (await words()) === "words of /words", `it is called:\n${start.output}`);
    await until(() => /^\[words\] is asked$/m.test(start.output), `its line is shown:\n${start.output}`);
    project.write("../words/index.js", WORKER.replace("words of", "other words of"));
    await until(async () => (await words()) === "other words of /words", `its change is served:\n${start.output}`);
  } finally {
    start.child.kill("SIGTERM");
    await start.ended;
  }
});

test("a folder that is of no use is told, with what to do", async () => {
  project.write("../broken/wrangler.toml", 'name = "broken"\nmain = "index.js"\ncompatibility_date = "2026-11-17"\n');
  project.write("../broken/index.js", "export default {\n");
  const toml = project.read("wrangler.toml");
  for (const [folder, told, more = ""] of [
    ["../nowhere", /--with \.\.\/nowhere: there is no wrangler\.toml, wrangler\.jsonc, wrangler\.json in that folder\./],
    ["../empty", /--with \.\.\/empty: there is no wrangler\.toml/],
    ["../broken", /the Worker there is "broken", and wrangler\.toml has no service binding to it; it has: words\.\n\nAdd:\n\n {4}\[\[services\]\]\n {4}binding = "THE_NAME_IN_AGENT_FILES"\n {4}service = "broken"/],
    ["../broken", /The Worker broken of \S+ is not served\. The code of the Worker cannot be bundled:\n\n[^]*but found end of file\n/, '\n[[services]]\nbinding = "BROKEN"\nservice = "broken"\n'],
  ]) {
    project.write("wrangler.toml", toml + more);
    const { code, output } = await project.run("start", ...(await portOptions()), "--with", folder);
    assert.equal(code, 1, output);
    assert.match(output, told);
  }
  project.write("wrangler.toml", toml);
});

test("test starts them, too", async () => {
  project.write("tests/agents.test.mjs", `
    import assert from "node:assert/strict";
    import { test } from "node:test";
    test("the other Worker answers", async () => assert.equal(await (await fetch(process.env.A2A_EDGE_URL + "/words")).text(), "words of /words"));
  `);
  project.write("../words/index.js", WORKER);
  const { code, output } = await project.run("test", "--with", "../words");
  assert.equal(code, 0, output);
});
