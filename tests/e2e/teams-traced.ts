// A coordinator of two agents, one of which takes its time, for tests of traces.
import { testAgents } from "./harness.ts";

type Embedded = { slug: string; card: string } & Record<string, unknown>;

/** The agents of tests/agents, and a coordinator of two others, of which one takes its time. */
export function team(): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: Embedded[] };
  const demo = agents.find(({ slug }) => slug === "demo") as Embedded;
  const made = (slug: string, description: string, executor: object): Embedded => {
    const card = JSON.parse(demo.card.replaceAll("/demo", `/${slug}`)) as object;
    const skills = [{ id: "do", name: "Do", description, tags: [] }];
    return { ...demo, slug, default: false, card: JSON.stringify({ ...card, name: slug, description, skills }), executor: { run: {}, ...executor } };
  };
  const script = (then: object[]): object => ({ kind: "script", table: { rules: [{ then }] }, run: { recovery: "resume" } });
  const model = { kind: "model", table: { model: "scripted", base_url: "dev:model", agents: ["weather", "trains"] } };
  const more = [
    made("weather", "Forecasts rain.", script([{ do: "artifact", text: "It is sunny." }, { do: "complete" }])),
    made("trains", "Books seats.", script([{ do: "working" }, { do: "wait", ms: 8000 }, { do: "artifact", text: "Booked." }, { do: "complete" }])),
    made("planner", "Plans.", model),
  ];
  return JSON.stringify({ ...built, agents: [...agents, ...more] });
}
