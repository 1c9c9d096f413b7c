import assert from "node:assert/strict";
import { test } from "node:test";
import { callTool } from "a2a-edge/testing";
import { find_place } from "../src/atlas.ts";

/** Calls the tool, with a service that knows two places and whoever has the key. */
const find = (args: Record<string, unknown>, key = "key-of-tests") => callTool(find_place, args, {
  secrets: { PLACES_KEY: key },
  fetch: ({ url, headers }) => {
    if (headers.get("x-key") !== "key-of-tests") return new Response(null, { status: 401 });
    const { searchParams } = new URL(url);
    const places = [{ name: "Lisbon", country: "Portugal" }, { name: "Lisbon", country: "United States" }];
    return Response.json(places.filter(({ name }) => name === searchParams.get("name")).slice(0, Number(searchParams.get("count"))));
  },
});

test("it finds as many as are asked for, one unless told", async () => {
  const portugal = { name: "Lisbon", country: "Portugal" };
  assert.deepEqual(await find({ name: "Lisbon" }), { parts: [{ data: [portugal] }], value: [portugal], progress: [] });
  const both = await find({ name: "Lisbon", count: 2 });
  assert.equal("value" in both && both.value.length, 2);
});

test("it says whose fault it is", async () => {
  assert.deepEqual(await find({ name: "Nowhere" }), { fault: "arguments", text: "there is no place Nowhere" });
  assert.deepEqual(await find({ name: "Lisbon" }, "another-key"), { fault: "upstream", text: "the service of places answered 401" });
  const wrong = await find({ name: "Lisbon", count: 11 });
  assert.equal("fault" in wrong && wrong.fault, "arguments");
});
