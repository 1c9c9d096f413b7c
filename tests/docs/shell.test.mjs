// What the test of code blocks takes for a command, and when an output is as shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { configProblem, kindOf, npmProblem, wranglerProblem } from "./commands.mjs";
import { commandsOf, matches, openShell } from "./shell.mjs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const console = (text) => commandsOf({ lang: "console", text });
const sh = (text) => commandsOf({ lang: "sh", text }).map(({ command }) => command);

test("a command goes on until its quotes are closed, and what is below it is its output", () => {
  assert.deepEqual(console("$ a 'b\n  c' d\nout\n  put\n$ e"), [{ command: "a 'b\n  c' d", output: "out\n  put" }, { command: "e", output: undefined }]);
  assert.deepEqual(sh("# a comment\na \\\n  b\nc \"d's\ne\" # it's\ncat <<EOF\nx\nEOF\nf"), ["a \\\n  b", "c \"d's\ne\" # it's", "cat <<EOF\nx\nEOF", "f"]);
  assert.throws(() => console("out\n$ a"), /begins with output/);
  assert.throws(() => console("$ a 'b"), /are not closed/);
});

test("an output is as shown where only white space, elided parts, shortened ids and times differ", () => {
  for (const [shown, output] of [
    ['{"id":"1646…38b1",\n  "a":1}', '{"id":"ffff0000ffff","a":1}'], ["…b…", "abc"], ["a (b) [c] $1", "a(b)[c]$1"],
    ['"2026-11-20T22:17:45.339Z"', '"2026-01-01T00:00:00Z"'], ["", "\n"],
  ]) {
    assert.ok(matches(shown, output), shown);
  }
  for (const [shown, output] of [["a", "ab"], ["a", "ba"], ["a…c", "ab"], ['{"a":1}', '{"a":2}'], ["a.c", "abc"], ["", "a"]]) {
    assert.ok(!matches(shown, output), `${shown} and ${output}`);
  }
});

test("every command is of a kind, and one that nobody knows is none", () => {
  for (const [command, kind] of [
    ["curl -s x", "curl"], ["TASK=f88b…4c21", "shell"], ["npm start -- --port 1", "npm"], ["A2A_LOGS=1 npm test", "npm"], ["npx a2a-edge check", "npm"], ["npx a2a-edge tasks --all", "operate"], ["npx a2a-edge keys make A_KEY", "npm"],
    ["node create/index.mjs a", "npm"], ["npx wrangler login", "wrangler"], ["npx a2a-edge wrangler tail", "wrangler"], ["pkill -9 -g 12345 workerd", "kill"], ["pkill -9 workerd", undefined],
    ["python3 examples/clients/send.py", "client"], ["cd ../a", "left alone"], ["rm -rf /", undefined], ["node mine.mjs", undefined],
    ["node_modules/.bin/node tests/nowhere.ts", undefined],
  ]) {
    assert.equal(kindOf(command), kind, command);
  }
});

test("commands and options of ours that do not exist are noticed", () => {
  for (const command of ["npm start", "npm test -- --only lint", "npm run deploy -- --dry-run # why", "npx a2a-edge start --port 1", "npx a2a-edge show $TASK --json", "node create/index.mjs a --from-card URL"]) {
    assert.equal(npmProblem(command), undefined, command);
  }
  for (const command of ["npm run nothing", "npm start -- --prot 1", "npx a2a-edge nothing", "npx a2a-edge tasks --agents a", "node scripts/nothing.mjs"]) {
    assert.ok(npmProblem(command), command);
  }
});

test("commands, options and configuration that wrangler does not know are noticed", () => {
  assert.equal(wranglerProblem("npx wrangler d1 delete my-agents   # the database"), undefined);
  assert.match(wranglerProblem("npx wrangler d1 frobnicate"), /does not know d1 frobnicate/);
  assert.match(wranglerProblem("npx wrangler tail --frobnicate"), /no option --frobnicate/);
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-docs-"));
  assert.equal(configProblem("workers_dev = false", folder), undefined);
  assert.match(configProblem("workers_devs = false", folder), /Unexpected fields/);
  rmSync(folder, { recursive: true });
});

test("a session keeps its variables, and tells what a command wrote and how it ended", async () => {
  const shell = openShell({});
  await shell.run("A='b c'");
  assert.deepEqual(await shell.run("echo \"$A\"; echo d >&2; (exit 3)"), { code: 3, output: "b c\nd\n" });
  shell.close();
});
