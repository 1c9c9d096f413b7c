// The JSON schemas of agents behind HTTP: the verbs that the code takes and refuses (src/executor/http/verb.rs tries the same ones), and
// what docs/http-agents.md shows. Turns that were really sent are tried in tests/e2e/http-agent-service.spec.ts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { pages, root } from "./markdown.mjs";

const read = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));
const ajv = new Ajv2020({ allErrors: true, strict: false });
const isTurn = ajv.compile(read("docs/http-agent-turn.schema.json"));
const isAnswer = ajv.compile(read("docs/http-agent-verbs.schema.json"));
const { good, bad } = read("tests/docs/http-agent-verbs.json");
const page = pages().find(({ path }) => path === "docs/http-agents.md");

test("the schema of verbs takes what the code takes, and nothing else", () => {
  for (const verb of good) assert.ok(isAnswer(verb), `${JSON.stringify(verb)}: ${ajv.errorsText(isAnswer.errors)}`);
  for (const verb of bad) assert.ok(!isAnswer(verb), JSON.stringify(verb));
});

test("a list has exactly one end", () => {
  const [begun, done] = [{ do: "artifact", text: "a" }, { do: "complete" }];
  assert.ok(isAnswer([begun, done]), ajv.errorsText(isAnswer.errors));
  for (const list of [[], [begun], [done, done], [begun, { do: "dance" }, done]]) assert.ok(!isAnswer(list), JSON.stringify(list));
});

test("the page shows a turn and verbs that are some", () => {
  const turn = page.blocks.find(({ lang }) => lang === "json");
  assert.ok(isTurn(JSON.parse(turn.text)), ajv.errorsText(isTurn.errors));
  const shown = [...readFileSync(join(root, page.path), "utf8").matchAll(/^\| `(\{"do": .*?\})` \|/gm)].map(([, verb]) => JSON.parse(verb));
  for (const verb of shown) assert.ok(isAnswer(verb), `${JSON.stringify(verb)}: ${ajv.errorsText(isAnswer.errors)}`);
  const known = new Set(good.map((verb) => verb.do));
  assert.deepEqual(new Set(shown.map((verb) => verb.do)), known, "each verb has its row");
});

test("a turn without what is needed is none", () => {
  const turn = JSON.parse(page.blocks.find(({ lang }) => lang === "json").text);
  for (const key of Object.keys(turn)) {
    const { [key]: _, ...rest } = turn;
    assert.ok(!isTurn(rest), `${key} is needed`);
  }
  assert.ok(isTurn({ ...turn, more: 1 }), "members may be added");
});
