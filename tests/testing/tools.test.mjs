import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure, tool } from "a2a-edge";
import { callTool } from "a2a-edge/testing";
import { z } from "zod";

const find_place = tool({
  description: "Finds a place by its name.",
  needs: ["PLACES_KEY"],
  inputSchema: z.object({ name: z.string().min(1).describe("As Lisbon."), count: z.number().default(1) }),
  async execute({ name, count }, call) {
    call.working(`looking for ${name}`);
    const found = await call.fetch(`https://places.example/${name}?n=${count}`, { headers: { "x-key": call.secret("PLACES_KEY") } });
    if (!found.ok) throw new Failure(`the service answered ${found.status}`, { fault: "upstream" });
    return found.json();
  },
});

const secrets = { PLACES_KEY: "0123456789abcdef" };

test("a tool gets its arguments with the defaults of its schema, its secrets and its requests", async () => {
  const asked = [];
  const fetch = (request) => {
    asked.push([request.url, request.headers.get("x-key")]);
    return Response.json({ country: "Portugal" });
  };
  assert.deepEqual(await callTool(find_place, { name: "Lisbon" }, { secrets, fetch }), {
    parts: [{ data: { country: "Portugal" } }], value: { country: "Portugal" }, progress: ["looking for Lisbon"],
  });
  assert.deepEqual(asked, [["https://places.example/Lisbon?n=1", "0123456789abcdef"]]);
});

test("faults are told apart", async () => {
  const fetch = () => new Response("", { status: 503 });
  assert.deepEqual(await callTool(find_place, { name: "Lisbon" }, { secrets, fetch }), { fault: "upstream", text: "the service answered 503" });
  assert.deepEqual(await callTool(find_place, { name: "" }, { secrets }), { fault: "arguments", text: "arguments.name: length must be 1 or more, got 0" });
});

test("an error that is no Failure reaches the test", async () => {
  const broken = tool({ description: "Fails.", inputSchema: { type: "object" }, execute: () => null.x });
  await assert.rejects(callTool(broken, {}), { name: "TypeError", message: /null/ });
});

test("a tool knows its caller", async () => {
  const report = tool({ description: "Sales.", inputSchema: { type: "object" }, execute: (_, { caller }) => (caller.may("finance") ? caller.owner : "nothing") });
  assert.equal((await callTool(report, {}, { caller: { id: "key:ada", permissions: ["finance"] } })).value, "key:ada");
  assert.equal((await callTool(report, {})).value, "nothing");
});

test("a secret that is missing, and a tool that cannot be registered, are errors", async () => {
  await assert.rejects(callTool(find_place, { name: "Lisbon" }), /the tool needs PLACES_KEY; give it by the option secrets/);
  await assert.rejects(callTool(tool({ description: "", inputSchema: { type: "object" }, execute: () => 1 }), {}), /tools\.tested: it needs a description/);
  await assert.rejects(callTool({}, {}), /callTool\(\) takes a tool/);
});
