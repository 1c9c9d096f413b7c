// The native client of MCP servers for the command line, against independent servers: the reference server (older revisions,
// sessions, all answers as streams) and one of the official SDK (2026-07-28).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "./client.ts";
import { type McpPeer, type Seen, startEverything, startModern } from "./mcp-servers.ts";
import { type Ended, start } from "./native-call.ts";

let old: McpPeer;
let modern: McpPeer & { seen: Seen };
before(async () => {
  [old, modern] = await Promise.all([startEverything(), startModern()]);
});
after(async () => {
  await Promise.all([old.stop(), modern.stop()]);
});

/** Runs the client, and also returns the methods that the server received. */
async function tools(peer: McpPeer, ...args: string[]): Promise<Ended & { asked: string[] }> {
  const begin = peer.methods.length;
  const ended = await start("tools", [peer.url, ...args]).ended;
  return { ...ended, asked: peer.methods.slice(begin) };
}

test("a server tells which revision it speaks (MCP 2026-07-28 server/discover, 2025-11-25 initialize)", async () => {
  for (const [peer, revision, name, asked] of [
    [old, "2025-11-25", "mcp-servers/everything", ["server/discover", "initialize", "notifications/initialized", "DELETE"]],
    [modern, "2026-07-28", "modern", ["server/discover"]],
  ] as const) {
    const { code, output, asked: was } = await tools(peer, "discover");
    assert.equal(code, 0);
    const verdict = JSON.parse(output) as { revision: string; name: string; settled: boolean };
    assert.deepEqual([verdict.revision, verdict.name, verdict.settled, was], [revision, name, true, asked]);
  }
});

test("tools are listed (MCP tools/list)", async () => {
  const listed = await tools(old, "list");
  assert.equal(listed.code, 0);
  assert.match(listed.output, /^echo {2}Echoes back the input string$/m);
  assert.match(listed.output, /^trigger-elicitation-request {2}/m);
  const { output } = await tools(modern, "list", "--json");
  const names = output.trim().split("\n").map((line) => (JSON.parse(line) as { name: string }).name);
  assert.deepEqual(names, ["echo", "weather", "count", "fail", "book", "wait"]);
});

test("tools are called, and give text and structured content (MCP tools/call)", async () => {
  assert.equal((await tools(old, "call", "get-sum", '{"a": 2, "b": 3}')).output, "The sum of 2 and 3 is 5.\n");
  const weather = JSON.parse((await tools(old, "call", "get-structured-content", '{"location": "New York"}', "--json")).output) as { structuredContent: object };
  assert.deepEqual(Object.keys(weather.structuredContent), ["temperature", "conditions", "humidity"]);
  assert.equal((await tools(modern, "call", "echo", '{"text": "größer"}')).output, "größer\n");
  // The SDK refuses the call if the header that repeats the argument is missing or differs.
  for (const city of ["Rome", "Köln"]) {
    const { output, asked } = await tools(modern, "call", "weather", JSON.stringify({ city }));
    assert.equal(output, `sunny\n{"structuredContent":{"city":"${city}"}}\n`);
    assert.deepEqual(asked, ["server/discover", "tools/list", "tools/call"]);
  }
});

test("every kind of content comes through (MCP tools/call)", async () => {
  const image = (await tools(old, "call", "get-tiny-image", "{}")).output;
  assert.match(image, /^\{"type":"image","data":"[A-Za-z0-9+/=]+","mimeType":"image\/png"\}$/m);
  const links = (await tools(old, "call", "get-resource-links", '{"count": 2}')).output;
  assert.equal(links.match(/"type":"resource_link"/g)?.length, 2);
  const resource = (await tools(old, "call", "get-resource-reference", '{"resourceType": "Text", "resourceId": 1}')).output;
  assert.match(resource, /"type":"resource","resource":\{"uri":"demo:\/\/resource\/dynamic\/text\/1"/);
});

test("progress is shown as it comes (MCP notifications/progress)", async () => {
  const { code, notes, output } = await tools(old, "call", "trigger-long-running-operation", '{"duration": 0.6, "steps": 3}');
  assert.equal(code, 0);
  assert.equal(notes, "1 of 3\n2 of 3\n3 of 3\n");
  assert.match(output, /^Long running operation completed/);
  // Notes that arrive together are printed once, with the newest value.
  const { notes: told, output: counted } = await tools(modern, "call", "count");
  assert.match(told, /3 of 3 step 3\n$/);
  assert.equal(counted, "counted\n");
});

test("a tool that fails, and one that does not exist (MCP isError, -32602)", async () => {
  const wrong = await tools(old, "call", "get-sum", '{"a": "x"}');
  assert.deepEqual([wrong.code, /Invalid arguments for tool get-sum/.test(wrong.output)], [1, true]);
  const failed = await tools(modern, "call", "fail");
  assert.deepEqual([failed.code, failed.output], [1, "it does not work\n"]);
  const absent = await tools(modern, "call", "dance");
  assert.deepEqual([absent.code, absent.notes], [1, "tools: the server has no tool dance\n"]);
});

test("a question in the stream of a call is answered (MCP 2025-11-25 elicitation/create)", async () => {
  const answered = await tools(old, "call", "trigger-elicitation-request", "{}", "--answer", '{"name": "Ann", "color": "blue"}');
  assert.equal(answered.code, 0, answered.notes);
  assert.match(answered.output, /Name: Ann/);
  assert.deepEqual(answered.asked.slice(3), ["tools/list", "GET", "tools/call", "answer", "DELETE"]);
  const declined = await tools(old, "call", "trigger-elicitation-request", "{}", "--answer", "decline");
  assert.match(declined.output, /declined/);
});

test("a question ends a call, which is made again with the answer and the state (MCP 2026-07-28 input_required)", async () => {
  const answered = await tools(modern, "call", "book", "{}", "--answer", '{"seat": "4A"}');
  assert.deepEqual([answered.code, answered.output], [0, "4A sealed é =\n"]);
  assert.deepEqual(answered.asked.slice(2), ["tools/call", "tools/call"]);
  const unanswered = await tools(modern, "call", "book");
  assert.deepEqual([unanswered.code, unanswered.output], [3, ""]);
  assert.match(unanswered.notes, /^Which seat\?\n\{"type":"object"/);
});

test("a call that takes too long is canceled in the way of its era (MCP notifications/cancelled; the end of the stream)", async () => {
  const legacy = await tools(old, "call", "trigger-long-running-operation", '{"duration": 60, "steps": 600}', "--timeout", "4");
  assert.equal(legacy.code, 6);
  assert.deepEqual(legacy.asked.slice(3), ["tools/list", "GET", "tools/call", "notifications/cancelled", "DELETE"]);
  const ended = await tools(modern, "call", "wait", "{}", "--timeout", "4");
  assert.deepEqual([ended.code, ended.asked], [6, ["server/discover", "tools/list", "tools/call"]]);
  await until(async () => modern.seen.canceled, (canceled) => canceled === 1);
});
