// The tools of this repository (src/tools.ts), each by itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { callTool } from "a2a-edge/testing";
import { add_numbers, current_time, echo, get_greeting, is_admin } from "../../src/tools.ts";

test("numbers are added", async () => {
  for (const [a, b, sum] of [[2, 3, 5], [0.5, 0.25, 0.75], [-1, 1, 0]]) assert.equal((await callTool(add_numbers, { a, b })).value, sum);
});

test("wrong arguments are refused with a reason", async () => {
  const text = "arguments.b: is required; arguments.a: must be of type number, got string";
  assert.deepEqual(await callTool(add_numbers, { a: "x" }), { fault: "arguments", text });
});

test("a sum that leaves the range is an error", async () => {
  assert.deepEqual(await callTool(add_numbers, { a: 1e308, b: 1e308 }), { fault: "arguments", text: "the sum is too large for a number" });
});

test("the text comes back", async () => {
  assert.equal((await callTool(echo, { text: "hi" })).value, "hi");
});

test("everybody is greeted", async () => {
  assert.equal((await callTool(get_greeting, {})).value, "Hello, world!");
  assert.equal((await callTool(get_greeting, { name: "Ada" })).value, "Hello, Ada!");
  assert.equal((await callTool(get_greeting, { name: "A".repeat(201) })).fault, "arguments");
});

test("the time is told in the zone that is asked for", async () => {
  for (const [args, zone] of [[{}, "Z"], [{ offset_minutes: 90 }, "+01:30"], [{ offset_minutes: -840 }, "-14:00"]]) {
    const { value } = await callTool(current_time, args);
    assert.match(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}/);
    assert.equal(value.slice(23), zone);
    assert.ok(Math.abs(Date.parse(value) - Date.now()) < 3_600_000, value);
  }
  assert.equal((await callTool(current_time, { offset_minutes: 900 })).fault, "arguments");
});

test("an admin is known by a permission", async () => {
  assert.equal((await callTool(is_admin, {})).value, false);
  assert.equal((await callTool(is_admin, {}, { caller: { id: "key:ada", permissions: ["admin"] } })).value, true);
});
