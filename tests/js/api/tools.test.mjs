// Tools: their schemas, arguments and results: js/api/schemas.js, call.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { jsonSchema, tool as aiTool, zodSchema } from "ai";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { Failure, Task, tool } from "./engine.mjs";

const made = (inputSchema, execute = (args) => ({ data: args })) => tool({ description: "Finds seats.", inputSchema, execute });
const described = (find_seats) => JSON.parse(new Task({ tools: { find_seats } }).functions.describe()).tools[0];
const call = (find_seats, args) => new Task({ tools: { find_seats } }).call("find_seats", args);

describe("the schema of a tool", () => {
  const schema = (inputSchema) => described(made(inputSchema)).inputSchema;

  test("is that of zod, with descriptions and defaults", () => {
    assert.deepEqual(schema(z.object({ hall: z.string().min(1).describe("As Opera."), rows: z.number().int().default(1) })), {
      type: "object",
      properties: {
        hall: { type: "string", minLength: 1, description: "As Opera." },
        rows: { type: "integer", default: 1, minimum: -9007199254740991, maximum: 9007199254740991 },
      },
      required: ["hall"],
    });
  });

  test("is that of valibot, if it is wrapped", () => {
    assert.deepEqual(schema(toStandardJsonSchema(v.object({ hall: v.string() }))), { type: "object", properties: { hall: { type: "string" } }, required: ["hall"] });
  });

  test("is that of arktype", () => {
    assert.deepEqual(schema(type({ hall: "string", "rows?": "number.integer" })), {
      type: "object", properties: { hall: { type: "string" }, rows: { type: "integer" } }, required: ["hall"],
    });
  });

  test("is that of the AI SDK", () => {
    const plain = { type: "object", properties: { hall: { type: "string" } }, required: ["hall"], additionalProperties: false };
    assert.deepEqual(schema(jsonSchema(plain)), plain);
    assert.deepEqual(schema(zodSchema(z.object({ hall: z.string() }))), plain);
    assert.deepEqual(schema(() => jsonSchema(plain)), plain);
  });

  test("is JSON Schema as it is, without its dialect", () => {
    const plain = { type: "object", properties: { hall: { $ref: "#/$defs/hall" } }, $defs: { hall: { type: "string" } } };
    assert.deepEqual(schema({ $schema: "https://json-schema.org/draft/2020-12/schema", ...plain }), plain);
  });

  test("may combine objects", () => {
    const [one, other] = [z.object({ a: z.literal("one") }), z.object({ a: z.literal("other") })];
    assert.equal(schema(z.discriminatedUnion("a", [one, other])).type, "object");
    assert.equal(schema(z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() }))).type, "object");
  });

  test("leaves out patterns that the engine cannot check and the library does", async () => {
    const look = "^(?=a)a$";
    const checked = z.object({ code: z.string().regex(/^(?=a)a$/), plain: z.string().regex(/^a$/), list: z.array(z.union([z.string().regex(/(a)\1/), z.number()])) });
    const { code, plain, list } = schema(checked).properties;
    assert.deepEqual([code, plain, list.items.anyOf[0]], [{ type: "string" }, { type: "string", pattern: "^a$" }, { type: "string" }]);
    assert.equal((await call(made(checked), { code: "b", plain: "a", list: [] })).fault, "arguments");
    const unchecked = { type: "object", properties: { code: { type: "string", pattern: look }, pattern: { const: { pattern: look } } } };
    assert.deepEqual(schema(unchecked), unchecked);
  });

  test("has its tuples as in draft 2020-12", () => {
    const [text, number] = [{ type: "string" }, { type: "number" }];
    const ofAi = (pair) => schema(zodSchema(z.object({ pair }))).properties.pair;
    assert.deepEqual(ofAi(z.tuple([z.string(), z.number()])), { type: "array", prefixItems: [text, number], items: false, minItems: 2, maxItems: 2 });
    assert.deepEqual(ofAi(z.tuple([z.string()], z.number())), { type: "array", prefixItems: [text], items: number, minItems: 1 });
    const data = { type: "object", properties: { pair: { default: { items: [1] } } } };
    assert.deepEqual(schema(data), data);
  });

  test("is told what to wrap, or which version is needed, where it cannot become JSON Schema", () => {
    const old = (vendor) => ({ "~standard": { version: 1, vendor, validate: (value) => ({ value }) } });
    for (const [given, told] of [
      [v.object({}), /^tools\.find_seats: its schema, of valibot, cannot become JSON Schema; wrap it: toStandardJsonSchema\(schema\), of @valibot\/to-json-schema$/],
      [old("zod"), /of zod, cannot become JSON Schema; zod 4\.2 or later is needed/],
      [old("arktype"), /arktype 2\.1\.28 or later is needed/],
      [old("yup"), /of yup, .*use a library with Standard JSON Schema/],
      [z.object({ at: z.date() }), /of zod, cannot become JSON Schema: Date cannot be represented in JSON Schema/],
      [z.string(), /^tools\.find_seats: the schema of its arguments must be an object, .* it has the type "string"$/],
      [z.union([z.object({}), z.array(z.string())]), /must be an object, .*it has no `type`/],
      [() => JSON.parse("{"), /^tools\.find_seats: its schema cannot be made: /],
      [{ properties: {} }, /it has no `type`/],
      [undefined, /^tools\.find_seats: it needs an inputSchema/],
      ["text", /it needs an inputSchema/],
      [jsonSchema(async () => ({})), /its JSON Schema is a promise/],
    ]) {
      assert.throws(() => described(made(given)), (error) => error instanceof TypeError && told.test(error.message), String(told));
    }
  });
});

describe("the arguments of a tool", () => {
  const data = async (inputSchema, args) => (await call(made(inputSchema), args)).parts[0].data;

  test("have the defaults and transforms of their library", async () => {
    assert.deepEqual(await data(z.object({ hall: z.string().trim(), rows: z.coerce.number().default(1) }), { hall: " a " }), { hall: "a", rows: 1 });
    assert.deepEqual(await data(toStandardJsonSchema(v.object({ rows: v.optional(v.number(), 2) })), {}), { rows: 2 });
    assert.deepEqual(await data(type({ rows: "number = 3" }), {}), { rows: 3 });
    assert.deepEqual(await data(zodSchema(z.object({ rows: z.number().default(4) })), {}), { rows: 4 });
    assert.deepEqual(await data({ type: "object" }, { any: 1 }), { any: 1 });
  });

  test("that do not fit are the fault of the caller", async () => {
    const refined = z.object({ seat: z.object({ row: z.number().refine((row) => row % 2 === 0, "must be even") }) });
    const { failed, fault, isFailure } = await call(made(refined), { seat: { row: 3 } });
    assert.deepEqual({ failed, fault, isFailure }, { failed: "seat.row: must be even", fault: "arguments", isFailure: true });
    const ofAi = await call(made(zodSchema(z.object({ row: z.number() }))), { row: "a" });
    assert.equal(ofAi.fault, "arguments");
    assert.match(ofAi.failed, /expected number/);
    assert.match((await call(made(z.object({ a: z.string() }).refine(() => false, "no")), { a: "" })).failed, /^no$/);
  });

  test("may be checked by something that waits", async () => {
    const slow = z.object({ hall: z.string().refine(async (hall) => hall === "Opera", "is not there") });
    assert.deepEqual(await data(slow, { hall: "Opera" }), { hall: "Opera" });
    assert.equal((await call(made(slow), { hall: "Dome" })).failed, "hall: is not there");
  });
});

describe("the result of a tool", () => {
  const parts = async (execute) => (await call(made({ type: "object" }, execute))).parts;

  test("becomes parts", async () => {
    for (const [result, expected] of [
      ["A1", [{ text: "A1" }]],
      [{ seat: "A1" }, [{ data: { seat: "A1" } }]],
      [undefined, [{ data: null }]],
      [[1, 2], [{ data: [1, 2] }]],
      [[{ text: "a" }, { raw: "aGk=", mediaType: "image/png" }], [{ text: "a" }, { raw: "aGk=", mediaType: "image/png" }]],
    ]) {
      assert.deepEqual(await parts(() => result), expected);
      assert.deepEqual(await parts(async () => result), expected);
    }
  });

  test("in pieces is joined", async () => {
    assert.deepEqual(await parts(async function* () {
      yield "a";
      yield "b";
      yield { data: { c: 1 } };
      yield "d";
    }), [{ text: "ab" }, { data: { c: 1 } }, { text: "d" }]);
    assert.deepEqual(await parts(() => ReadableStream.from([new TextEncoder().encode("Gr\u00fc"), new TextEncoder().encode("ße")])), [{ text: "Grüße" }]);
    assert.deepEqual(await parts(async function* () {}), [{ text: "" }]);
    const wrong = await call(made({ type: "object" }, async function* () {
      yield 5;
    }));
    assert.match(wrong.failed, /a piece of a result must be a text, bytes of a text or a part, got 5/);
  });

  test("is given at once if nothing waits", () => {
    const task = new Task({ tools: { find_seats: made({ type: "object" }, () => "A1") } });
    assert.equal(task.functions.callTool("find_seats", 0, "{}", JSON.stringify(task.turn)), '{"parts":[{"text":"A1"}]}');
  });

  test("is a failure, with who is at fault", async () => {
    const { failed, fault } = await call(made({ type: "object" }, () => Promise.reject(new Failure("the service answered 503", { fault: "upstream" }))));
    assert.deepEqual([failed, fault], ["the service answered 503", "upstream"]);
  });

  test("comes with progress", async () => {
    const task = new Task({ tools: { find_seats: made({ type: "object" }, (_, { working }) => working("looking")) } });
    await task.call("find_seats");
    assert.deepEqual(task.said, [{ do: "working", text: "looking" }]);
  });
});

describe("a tool of the AI SDK", () => {
  test("fits as it is", async () => {
    let options;
    const add = aiTool({
      description: "Adds.",
      inputSchema: z.object({ a: z.number(), b: z.number().default(2) }),
      execute: async ({ a, b }, given) => {
        options = given;
        return a + b;
      },
    });
    assert.equal(described(add).description, "Adds.");
    assert.deepEqual(await call(add, { a: 1 }), { parts: [{ data: 3 }] });
    assert.equal(options.toolCallId, "2.1");
    assert.deepEqual(options.messages, []);
    assert.deepEqual(options.context, {});
    assert.equal(options.abortSignal, options.signal);
  });

  test("that gives a stream gives its last result", async () => {
    const slow = aiTool({
      description: "Works.",
      inputSchema: z.object({}),
      async *execute() {
        yield { status: "loading" };
        yield { status: "done", seats: 3 };
      },
    });
    assert.deepEqual(await call(slow), { parts: [{ data: { status: "done", seats: 3 } }] });
  });

  test("that cannot be called is told why", () => {
    const inputSchema = z.object({});
    const execute = () => 1;
    for (const [given, told] of [
      [aiTool({ description: "a", inputSchema }), /^tools\.find_seats: it has no execute; a tool without one runs elsewhere/],
      [aiTool({ inputSchema, execute }), /it needs a description/],
      [aiTool({ description: () => "a", inputSchema, execute }), /it needs a description, a text/],
      [aiTool({ description: "a", inputSchema, execute, needsApproval: true }), /needsApproval is not supported; ask the caller in an executor/],
    ]) {
      assert.throws(() => described(given), (error) => told.test(error.message), String(told));
    }
  });
});
