// Coordinators of agents of their own Worker and elsewhere.
import assert from "node:assert/strict";

type Embedded = { slug: string; card: string } & Record<string, unknown>;

/** These agents, and coordinators with the agents that they ask: copies of `demo` with other cards and executors. The coordinators have the scripted model of development. */
export function withCoordinators(embedded: string): string {
  const { agents, ...built } = JSON.parse(embedded) as { agents: Embedded[] };
  const demo = agents.find(({ slug }) => slug === "demo");
  assert.ok(demo);
  const made = (slug: string, description: string, executor: object): Embedded => {
    const card = JSON.parse(demo.card.replaceAll("/demo", `/${slug}`)) as object;
    const shown = { ...card, name: slug, description, skills: [{ id: "do", name: "Do", description, tags: [] }] };
    return { ...demo, slug, default: false, card: JSON.stringify(shown), executor: { run: {}, ...executor } };
  };
  const script = (rules: object[]): object => ({ kind: "script", table: { rules } });
  const model = (names: string[]): object => ({ kind: "model", table: { model: "scripted", base_url: "dev:model", agents: names } });
  const asks = {
    then: [{ do: "working" }, { do: "input_required", text: "On which day?" }],
    follow_up: [{ then: [{ do: "artifact", text: "Booked for {text}." }, { do: "complete" }] }],
  };
  const more = [
    made("weather", "Forecasts rain.", script([{ then: [{ do: "artifact", text: "It is sunny." }, { do: "complete" }] }])),
    made("trains", "Books seats.", script([asks])),
    made("sleeper", "Dreams.", script([{ then: [{ do: "working" }, { do: "wait", ms: 600000 }, { do: "complete" }] }])),
    made("planner", "Plans.", model(["weather", "trains"])),
    made("dreamer", "Sleeps.", model(["sleeper", "weather"])),
    made("circle", "Turns round.", model(["circle"])),
    made("lame", "Plans, too.", model(["weather", "next"])),
  ];
  return JSON.stringify({ ...built, agents: [...agents, ...more] });
}
