// Every npm script tells what it does, and refuses what it does not know before it does anything.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readOptions } from "../../scripts/lib/options.mjs";
import { makeProject, root } from "./project.mjs";

const commands = Object.entries(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts);

describe("npm scripts", () => {
  let project;
  before(() => (project = makeProject({ packages: "none" })));
  after(() => project.remove());

  for (const [name, command] of commands) {
    const script = /^node scripts\/([\w-]+)\.mjs$/.exec(command)?.[1];
    const npm = ["start", "test"].includes(name) ? `npm ${name}` : `npm run ${name}`;

    test(`${npm} -- --help tells how it is used and does nothing else`, async () => {
      const before = project.files();
      const runs = ["--help", "-h"].map((option) => project.run(script, option));
      for (const { code, output } of await Promise.all(runs)) {
        assert.equal(code, 0, output);
        assert.ok(output.startsWith(`Usage: ${npm}`), output);
        assert.match(output, /^ {4}-h, --help {2,}/m);
      }
      assert.deepEqual(project.calls(), []);
      assert.deepEqual(project.files(), before);
    });

    test(`${npm} refuses an unknown option before it does anything`, async () => {
      const before = project.files();
      const runs = [["--nonsense"], ["--", "--nonsense"]].map((args) => project.run(script, ...args));
      for (const { code, output } of await Promise.all(runs)) {
        assert.equal(code, 1, output);
        assert.match(output, /There is no (option|argument|step) "/, output);
        assert.ok(output.includes(`Usage: ${npm}`), output);
      }
      assert.deepEqual(project.calls(), []);
      assert.deepEqual(project.files(), before);
    });
  }
});

describe("options", () => {
  const options = { port: { type: "string", short: "p" }, var: { type: "string", multiple: true }, quick: { type: "boolean" } };
  const read = (...args) => readOptions({ usage: "Usage: it", options }, args).values;

  test("are read with their values", () => {
    assert.deepEqual({ ...read("--port", "1", "--quick") }, { port: "1", quick: true });
    assert.deepEqual({ ...read("-p", "1") }, { port: "1" });
    assert.deepEqual({ ...read("--var=a:1", "--var", "b:2") }, { var: ["a:1", "b:2"] });
    assert.deepEqual({ ...read("--var=--x") }, { var: ["--x"] });
  });

  for (const [args, problem] of [
    [["--prot", "1"], 'There is no option "--prot".'],
    [["-q"], 'There is no option "-q".'],
    [["--port"], "--port needs a value."],
    [["--port="], "--port needs a value."],
    [["--port", "--quick"], "--port needs a value."],
    [["--quick=no"], '--quick takes no value, got "no".'],
    [["extra"], 'There is no argument "extra".'],
  ]) {
    test(`${args.join(" ")} is refused with the reason`, () => {
      assert.throws(() => read(...args), { message: `${problem}\n\nUsage: it` });
    });
  }
});
