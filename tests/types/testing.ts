// Tests as authors write them.
import { callTool, survivesCrashes, testAgent } from "a2a-edge/testing";
import { find_place, orders, seats, trip } from "./examples.ts";

async function make() {
  let notify = "";
  const agent = await testAgent(orders, {
    fetch: async (request) => {
      ({ notify } = await request.json<{ notify: string }>());
      return new Response();
    },
  });
  return Object.assign(agent, { url: () => notify });
}

export async function ordersSurvive() {
  const agent = await make();
  await agent.send("a chair", { metadata: { "https://a.example/m": 1 }, acceptedOutputModes: ["text/plain"] });
  await agent.crash();
  await agent.crash("order");
  const isTaken: boolean = await agent.post(agent.url(), { paid: true });
  const { state, artifacts } = await agent.pass("8 days");
  const text: string | undefined = artifacts["result"]?.text;
  const urls: string[] = agent.fetched.map(({ url }) => url);
  // @ts-expect-error there is no such state
  const isDone = state === "done";
  // @ts-expect-error no such duration
  await agent.pass("8 fortnights");
  // @ts-expect-error bytes are no JSON
  await agent.post(agent.url(), new Uint8Array(1));
  const { crashes } = await survivesCrashes(make, async (agent) => agent.post(agent.url(), "49 EUR"), { limit: 50 });
  return [isTaken, text, urls, isDone, crashes];
}

export const withSettings = testAgent(seats, {
  settings: { hall: "north" },
  caller: { id: "key:billing", permissions: ["finance"] },
  env: { SHOP_URL: "https://shop.example" },
  mcp: { rooms: { free: ({ nights }) => ({ nights }), book: { isReadOnly: false, execute: () => "booked" } } },
});

// @ts-expect-error the hall is a text
export const wrongSettings = testAgent(seats, { settings: { hall: 7 } });

export const withRemotes = testAgent(trip, {
  remotes: { weather: ({ parts }) => `no rain (${parts.length})`, hotels: async () => ({ state: "input-required", text: "For how many nights?" }) },
});

// @ts-expect-error there is no such option
export const unknown = testAgent(orders, { fetcher: () => new Response() });

export async function placesAreFound() {
  const outcome = await callTool(find_place, { name: "Lisbon" }, { secrets: { PLACES_KEY: "k" } });
  // @ts-expect-error it may have failed
  const value = outcome.value;
  return "fault" in outcome ? outcome.text : [outcome.value, outcome.parts.length, outcome.progress[0], value];
}
