// Which line of a card an error stands in, and what is shown of cards that cannot be used.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jsonLines } from "../../console/src/api/json-lines.ts";
import { toldOf } from "../../console/src/pages/agents/unfit.ts";

const CARD = `{
  "name": "Bare",
  "skills": [
    { "id": "one", "name": "One" },
    {
      "id": "two",
      "default_tags": null
    }
  ],
  "capabilities": {}, "url": 5
}`;

describe("the line of a member", () => {
  const { lineOf, fault, isLaidOut } = jsonLines(CARD);
  for (const [path, line] of [
    ["name", 2], ["skills", 3], ["skills[0]", 4], ["skills[0].name", 4], ["skills[1]", 5], ["skills[1].id", 6], ["capabilities", 10], ["url", 10],
    // By either way of writing names.
    ["skills[1].defaultTags", 7], ["skills[1].default_tags", 7],
    // What is missing is missing where it would stand.
    ["version", 1], ["skills[1].name", 5], ["skills[1].tags[3].x", 5], ["skills[7].id", 3], ["capabilities.extensions[0].uri", 10], ["", 1],
  ] as const) {
    test(`${path === "" ? "the whole" : path} is ${line}`, () => assert.equal(lineOf(path), line));
  }
  test("is told of a text that is left as it is", () => assert.deepEqual([fault, isLaidOut], [undefined, false]));

  test("is counted by each kind of break", () => {
    for (const end of ["\n", "\r\n", "\r"]) assert.equal(jsonLines(CARD.replaceAll("\n", end)).lineOf("skills[1].id"), 6);
  });

  test("is the first one of a member that comes twice, whose name may be any", () => {
    const { lineOf } = jsonLines('{"a": 1,\n"__proto__": {"b": 1},\n"a": 2,\n"é\\u0062": 1}');
    assert.deepEqual([lineOf("a"), lineOf("__proto__.b"), lineOf("éb")], [1, 2, 4]);
  });
});

describe("a text that is not JSON", () => {
  for (const [text, line, why] of [
    ["", 1, /ends where a value/], ["<!doctype html>\n<html>", 1, /no value of JSON begins/], ['{"a": 1,\n "b": }', 2, /no value of JSON begins/], ['{"a": 1\n "b": 2}', 2, /a comma or }/],
    ['{"a": 1,\n}', 2, /name of a member/], ["{'a': 1}", 1, /double quotes/], ['{"a" 1}', 1, /colon/], ["[1,\n2\n3]", 3, /a comma or \]/], ['{"a": "b\nc"}', 1, /no end/], ['{"a": 01}', 1, /comma/], ['{}\n\n{}', 3, /behind the value/],
    ["\ufeff{}", 1, /no value of JSON begins/],
  ] as const) {
    test(`${JSON.stringify(text)} is told at line ${line}`, () => {
      const { fault } = jsonLines(text);
      assert.equal(fault?.line, line);
      assert.match(fault.text, why);
    });
  }

  test("is not taken for one, nor the other way round", () => {
    const values = ['"\\ud800"', "-0.5e+3", '{"":{"":[[],{}]}}', " null ", '"\\/\\b"', "1e999", "[1,]", "+1", "1.", '"\\x"', "tru", '"\t"', "[", "NaN", "\u00a0{}"];
    for (const text of values) {
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      assert.equal(jsonLines(text).fault === undefined, isJson, text);
    }
  });

  test("of any depth and size is read", () => {
    assert.match(jsonLines("[".repeat(100_000)).fault?.text ?? "", /too deep/);
    assert.equal(jsonLines(JSON.stringify(Array.from({ length: 50_000 }, (_, at) => at))).lineOf("[49999]"), 50_001);
  });
});

describe("what is shown", () => {
  const violations = [{ field: "version", description: "is required" }, { field: "skills[1].name", description: "must be text" }];

  test("has each error at its line", () => {
    const { rows, mistakes } = toldOf({ text: CARD, isCut: false, violations });
    assert.deepEqual(mistakes.map(({ line, about }) => [line, about]), [[1, "version"], [5, "skills[1].name"]]);
    assert.deepEqual(rows.map((row) => ("left" in row ? -row.left : row.mistakes.length)), [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert.equal(rows.map((row) => ("text" in row ? row.text : "")).join("\n"), CARD, "as it was served");
  });

  test("of a long line has a line for each member, and the same words", () => {
    const text = `{"name":"${"x".repeat(500)}","version":1.50,"a":1,"a":2,"empty":{},"skills":[{"id":"\\u0041"},{}]}`;
    const { rows, mistakes, isLaidOut } = toldOf({ text, isCut: false, violations });
    assert.ok(isLaidOut);
    const lines = rows.map((row) => ("text" in row ? row.text : ""));
    assert.deepEqual(lines.slice(2, 8), ['  "version": 1.50,', '  "a": 1,', '  "a": 2,', '  "empty": {},', '  "skills": [', "    {"]);
    assert.deepEqual(lines.slice(8), ['      "id": "\\u0041"', "    },", "    {}", "  ]", "}"]);
    assert.deepEqual(mistakes.map(({ line }) => line), [3, 11]);
    assert.ok(rows[1] !== undefined && "text" in rows[1] && rows[1].isCut && rows[1].text.length === 400);
  });

  test("of a long card is what stands around its errors", () => {
    const text = JSON.stringify({ name: "n", skills: Array.from({ length: 200 }, (_, at) => ({ id: `s${at}`, tags: [] })) }, null, 2);
    const { rows } = toldOf({ text, isCut: false, violations: [{ field: "skills[150].name", description: "is required" }] });
    const at = 3 + 150 * 4 + 1;
    assert.deepEqual(rows.filter((row) => "line" in row).map((row) => row.line), [...Array.from({ length: 20 }, (_, line) => line + 1), ...[-3, -2, -1, 0, 1, 2, 3].map((more) => at + more)]);
    const count = rows.reduce((sum, row) => sum + ("left" in row ? row.left : 1), 0);
    assert.equal(count, text.split("\n").length);
  });

  test("of a text that is not JSON is the text with the place, unless it was cut", () => {
    const html = "<!doctype html>\n<title>Not found</title>";
    assert.deepEqual(toldOf({ text: html, isCut: false, violations: [] }).mistakes.map(({ line, about }) => [line, about]), [[1, ""]]);
    assert.deepEqual(toldOf({ text: '{"name": "N", "desc', isCut: true, violations: [] }).mistakes, []);
  });
});
