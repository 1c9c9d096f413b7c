// Forms of JSON schemas: their fields, what is checked before anything is sent, and schemas that attack the page.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, type Entered } from "../../console/src/parts/form/check.ts";
import { matcherOf } from "../../console/src/parts/form/pattern.ts";
import { fieldOf, type Field, type Kind } from "../../console/src/parts/form/schema.ts";

/** The members of a form by their names. */
function membersOf(schema: unknown): Record<string, Field> {
  const of = fieldOf(schema)?.of;
  assert.ok(of?.kind === "object");
  return Object.fromEntries(of.members.map((member) => [member.name, member]));
}

const kindOf = (schema: unknown): Kind["kind"] | undefined => membersOf({ type: "object", properties: { x: schema } })["x"]?.of.kind;

/** The value and the problems of a form with these entries; the paths are without the root. */
function result(schema: unknown, entered: Record<string, string | number[] | Entered>): { value: unknown; problems: Record<string, string> } {
  const field = fieldOf(schema);
  assert.ok(field !== undefined);
  const found = check(field, (path) => {
    const one = entered[path.replace(/^answer\/?/, "")] ?? "";
    return typeof one === "string" ? { text: one } : Array.isArray(one) ? { text: "", chosen: one } : one;
  });
  return { value: found.value, problems: Object.fromEntries([...found.problems].map(([path, text]) => [path.replace(/^answer\/?/, ""), text])) };
}

const object = (properties: object, required: string[] = []): object => ({ type: "object", properties, required });

describe("a field is made", () => {
  const kinds: [string, unknown, Kind["kind"]][] = [
    ["a choice of an enum", { type: "string", enum: ["a", "b"] }, "choice"],
    ["a choice of named constants", { oneOf: [{ const: 1, title: "One" }, { const: 2 }] }, "choice"],
    ["a choice of a boolean", { type: "boolean" }, "choice"],
    ["checkboxes for a list of choices", { type: "array", items: { enum: ["a"] } }, "choices"],
    ["checkboxes for a list of named constants", { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } }, "choices"],
    ["lines for a list of numbers", { type: "array", items: { type: "integer" } }, "list"],
    ["JSON for a list of objects", { type: "array", items: { type: "object", properties: {} } }, "json"],
    ["a file for base64", { type: "string", contentEncoding: "base64" }, "file"],
    ["a text for a type that may be null", { type: ["null", "string"] }, "text"],
    ["a number of an alternative with null", { anyOf: [{ type: "integer" }, { type: "null" }] }, "number"],
    ["JSON for alternatives of several types", { anyOf: [{ type: "integer" }, { type: "string" }] }, "json"],
    ["JSON for no schema", "nonsense", "json"],
    ["JSON for anything", true, "json"],
  ];
  for (const [title, schema, kind] of kinds) test(title, () => assert.equal(kindOf(schema), kind));

  test("from references, within the document alone", () => {
    const members = membersOf({
      ...object({ a: { $ref: "#/$defs/day", title: "The day" }, b: { $ref: "#/properties/a" }, c: { $ref: "https://example.com/x" }, d: { allOf: [{ $ref: "#/$defs/day" }] }, e: { $ref: "#/$defs/constructor" } }),
      $defs: { day: { type: "string", format: "date", title: "A day" } },
    });
    assert.deepEqual(["a", "b", "c", "d", "e"].map((name) => members[name]?.of.kind), ["text", "text", "json", "text", "json"]);
    assert.equal(members["a"]?.title, "The day");
  });

  test("with a place of its own, whatever the names", () => {
    const schema = object({ "a/b": { type: "string" }, a: object({ b: { type: "string" } }) });
    assert.deepEqual(result(schema, { "a~1b": "1", "a/b": "2" }).value, { "a/b": "1", a: { b: "2" } });
  });

  test("with its default, also one of the object around it", () => {
    const { x, o } = membersOf({ ...object({ x: { type: "integer", default: 4 }, o: object({ y: { type: "string" } }) }), default: { x: 5, o: { y: "z" } } });
    assert.equal(x?.initial, 4);
    assert.ok(o?.of.kind === "object");
    assert.equal(o.of.members[0]?.initial, "z");
  });
});

describe("what is entered", () => {
  const cases: [string, unknown, string, unknown][] = [
    ["a whole number", { type: "integer" }, "12", 12],
    ["a number", { type: "number", multipleOf: 0.1 }, "0.3", 0.3],
    ["a boolean", { type: "boolean" }, "1", false],
    ["a choice that is null", { enum: ["a", null] }, "1", null],
    ["a date", { type: "string", format: "date" }, "2024-02-29", "2024-02-29"],
    ["a moment", { type: "string", format: "date-time" }, "2026-01-02T03:04Z", "2026-01-02T03:04:00.000Z"],
    ["letters of two units", { type: "string", maxLength: 2 }, "🙂🙂", "🙂🙂"],
    ["lines", { type: "array", items: { type: "number" } }, "1\n\n 2 ", [1, 2]],
    ["JSON", {}, "[1]", [1]],
  ];
  for (const [title, schema, text, value] of cases) {
    test(`is sent: ${title}`, () => assert.deepEqual(result(object({ x: schema }, ["x"]), { x: text }), { value: { x: value }, problems: {} }));
  }

  const wrong: [string, unknown, string, RegExp][] = [
    ["nothing", { type: "string" }, "", /needed/],
    ["too short", { type: "string", minLength: 3 }, "ab", /At least 3 characters; this has 2/],
    ["too long", { type: "string", maxLength: 1 }, "ab", /At most 1 character; this has 2/],
    ["another form", { type: "string", pattern: "^[a-z]+$" }, "A", /form/],
    ["no address of a page", { type: "string", format: "uri" }, "example", /address/],
    ["no address of mail", { type: "string", format: "email" }, "a@b@c", /email/],
    ["a day that there is not", { type: "string", format: "date" }, "2026-02-30", /date/],
    ["too small", { type: "number", minimum: 1 }, "0", /At least 1/],
    ["at an open bound", { type: "number", exclusiveMaximum: 1 }, "1", /Less than 1/],
    ["at an open bound of older drafts", { type: "number", minimum: 1, exclusiveMinimum: true }, "1", /More than 1/],
    ["a half", { type: "integer" }, "1.5", /whole/],
    ["beyond what JSON holds", { type: "integer" }, "9007199254740993", /too large/],
    ["no multiple", { type: "number", multipleOf: 0.5 }, "0.7", /multiple of 0.5/],
    ["a wrong line", { type: "array", items: { type: "integer", maximum: 3 } }, "1\n5", /Line 2: At most 3/],
    ["too few lines", { type: "array", items: { type: "string" }, minItems: 2 }, "a", /At least 2 lines/],
    ["equal lines", { type: "array", items: { type: "string" }, uniqueItems: true }, "a\na", /twice/],
    ["no JSON", { type: "object" }, "{", /not JSON/],
    ["a list for an object", { type: "object" }, "[]", /object/],
  ];
  for (const [title, schema, text, problem] of wrong) {
    test(`is told beside its field: ${title}`, () => {
      const { problems } = result(object({ x: schema }, ["x"]), { x: text });
      assert.deepEqual(Object.keys(problems), ["x"]);
      assert.match(problems["x"]!, problem);
    });
  }

  test("of an object that may be missing, needs its members when one of them is there", () => {
    const schema = object({ o: object({ a: { type: "string" }, b: { type: "string" } }, ["a"]) });
    assert.deepEqual(result(schema, {}), { value: {}, problems: {} });
    assert.deepEqual(Object.keys(result(schema, { "o/b": "x" }).problems), ["o/a"]);
    assert.deepEqual(result(schema, { "o/a": "x" }).value, { o: { a: "x" } });
  });

  test("of checkboxes and of unreadable inputs is checked, too", () => {
    const schema = object({ c: { type: "array", items: { enum: ["a", "b"] }, minItems: 1 }, n: { type: "number" } }, ["c"]);
    assert.deepEqual(result(schema, { c: [1], n: "" }).value, { c: ["b"] });
    assert.deepEqual(Object.keys(result(schema, { n: { text: "", isUnreadable: true } }).problems), ["c", "n"]);
  });

  test("is a member of its own, whatever its name", () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}') as unknown;
    const { value } = result(schema, JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal(JSON.stringify(value), '{"__proto__":"a","constructor":"b"}');
  });
});

describe("a schema that attacks the page", () => {
  test("is no form if it is too large, and JSON where it has no end", () => {
    assert.equal(fieldOf(object(Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`p${at}`, {}])))), undefined);
    const doubling = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}`, object(Object.fromEntries([..."abcd"].map((name) => [name, { $ref: `#/$defs/d${at + 1}` }])))]));
    assert.equal(fieldOf({ ...object({ x: { $ref: "#/$defs/d0" } }), $defs: doubling }), undefined);
    const round = { allOf: [{ $ref: "#/$defs/round" }, { $ref: "#/$defs/round" }] };
    assert.equal(membersOf({ ...object({ x: { $ref: "#/$defs/round" } }), $defs: { round } })["x"]?.of.kind, "json");
    let deep: unknown = { type: "string" };
    for (let depth = 0; depth < 3000; depth += 1) deep = { anyOf: [deep] };
    assert.equal(fieldOf(object({ x: deep })), undefined);
  });

  test("with members of wrong types is read as far as it can be", () => {
    for (const odd of [null, 7, [], "x", { properties: 5 }, { type: {} }, { enum: {} }, { enum: [] }, { anyOf: 3 }, { allOf: [1] }, { $ref: 5 }, { $ref: "#/%zz" }, { type: "string", pattern: "(", minLength: "x", title: {} }, { type: "number", minimum: null }]) {
      assert.ok(kindOf(odd) !== undefined);
    }
    for (const odd of [null, 7, [], "x", undefined]) assert.equal(fieldOf(odd), undefined);
    assert.equal(fieldOf({ type: "object", properties: {}, required: "x" })?.of.kind, "object");
  });
});

describe("a pattern", () => {
  const samples = ["", "a", "ab", "aaa", "abcabc", "A1_-", "2026-01-31", "x@y.z", "ß", "🙂", "a\nb", "foo bar", "--", "0x1F", "aXbX"];
  const patterns = ["", "a", "^a*$", "^(ab|abc)+$", "^[a-z]{2,3}$", "^[^a-z]*$", "\\d{4}-\\d\\d", "^\\w+@\\w+\\.[a-z]+$", "^.$", "a|b|^$", "^(?:a|)b?$", "\\bbar\\b", "^(?<n>a+)(b+)?$", "^\\p{L}+$", "^[\\]\\-_A-Z0-9]+$", "(a{2}){1,2}", "^x?@?", "\\-\\-", "^a.b$", "\\u0061", "^0x[0-9A-F]+$", "^(a|b)*?X", "[^]b", "^\\S+$"];
  for (const pattern of patterns) {
    test(`decides as the browser does: ${pattern}`, () => {
      const found = matcherOf(pattern);
      assert.ok(found !== undefined);
      let own: RegExp;
      try {
        own = new RegExp(pattern, "u");
      } catch {
        own = new RegExp(pattern);
      }
      for (const text of samples) assert.equal(found(text), own.test(text), JSON.stringify(text));
    });
  }

  test("takes no longer because of its ways", () => {
    for (const pattern of ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(.*a){12}$", "^a*a*a*a*a*a*b$", "^((a*)*)*b$"]) assert.equal(matcherOf(pattern)?.(`${"a".repeat(5000)}!`), false, pattern);
  });

  test("is left to the agent if it looks around, refers back, or is too large or wrong", () => {
    for (const pattern of ["(?=a)", "(?<!a)b", "(a)\\1", "(?<n>a)\\k<n>", "(", "[", "a{9999}", `(${"(".repeat(60)}a${")".repeat(60)})`, `${"(?:".repeat(40)}${"){9}".repeat(40)}`, "x".repeat(2000), "(?i:a)"]) {
      assert.equal(matcherOf(pattern), undefined, pattern.slice(0, 20));
    }
    assert.equal(matcherOf("a")?.("b".repeat(10_000_000 / 2)), true);
  });
});
