import assert from "node:assert/strict";
import { test } from "node:test";
import { executor } from "a2a-edge";
import { survivesCrashes, testAgent } from "a2a-edge/testing";

const booking = executor({
  async execute(turn) {
    const rooms = turn.mcp("rooms");
    const names = (await rooms.tools()).map(({ name }) => name);
    const free = await rooms.call("free", { nights: 2 });
    const booked = await rooms.call("book", { room: free.structured.room });
    return { data: { names, text: booked.parts[0].text } };
  },
});

/** A server that notes what is booked. */
const server = (booked) => ({
  rooms: {
    free: { isReadOnly: true, execute: ({ nights }) => ({ room: nights * 10 }) },
    book: ({ room }) => {
      booked.push(room);
      return `room ${room}`;
    },
  },
});

test("tools of MCP servers are called by the client of the engine", async () => {
  const booked = [];
  const agent = await testAgent(booking, { mcp: server(booked) });
  assert.deepEqual((await agent.send("a room")).artifacts.result.parts[0].data, { names: ["free", "book"], text: "room 20" });
  assert.deepEqual(booked, [20]);
});

test("a refusal of a server is an error of the call", async () => {
  const agent = await testAgent(executor({
    execute: (turn) => turn.mcp("rooms").call(turn.text, {}).then(() => "called", (error) => error.message),
  }), { mcp: { rooms: { book: () => { throw new Error("no room is free"); } } } });
  assert.match((await agent.send("book")).artifacts.result.text, /no room is free/);
});

test("calls of tools survive crashes", async () => {
  const all = [];
  const make = () => {
    all.push([]);
    return testAgent(booking, { mcp: server(all.at(-1)) });
  };
  const { crashes } = await survivesCrashes(make, (agent) => agent.send("a room"));
  assert.ok(crashes > 5);
  assert.ok(all.every((booked) => booked.length === 1 || booked.length === 2));
});
