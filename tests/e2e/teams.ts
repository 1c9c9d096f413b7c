// Coordinators over two Workers, whose model is the test: for coordinator-*.spec.ts. Each scripted agent exists four times: in the Worker of
// the coordinators as `asker`, in the other Worker, called by name as `far-asker`, and behind the front `front-asker`.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Agent, isTerminal, until, type Task } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { ModelServer, resultsIn } from "./model-server.ts";
import { Sink } from "./sink.ts";

type Embedded = { slug: string; card: string } & Record<string, unknown>;
type Built = { agents: Embedded[]; remotes?: object[] } & Record<string, unknown>;

/** The actions of the scripted agents for their first message, and for the next one. */
const scripts: Record<string, { then: object[]; next?: object[] }> = {
  sleeper: { then: [{ do: "working" }, { do: "wait", ms: 600_000 }, { do: "complete" }] },
  asker: {
    then: [{ do: "working" }, { do: "input_required", text: "On which day?" }],
    next: [{ do: "artifact", text: "Booked for {text}." }, { do: "complete" }],
  },
  signer: { then: [{ do: "working" }, { do: "auth_required", text: "Please sign in." }], next: [{ do: "complete", text: "You said {text}." }] },
  maker: {
    then: [
      { do: "artifact", id: "text", text: "Made." },
      { do: "artifact", id: "data", data: { pages: 2 } },
      { do: "artifact", id: "report", raw: "JVBERg==", filename: "report.pdf", media_type: "application/pdf" },
      { do: "artifact", id: "picture", url: "https://pictures.example/dot.png", filename: "dot.png", media_type: "image/png" },
      { do: "complete" },
    ],
  },
  drafter: {
    then: [{ do: "artifact", id: "draft", raw: "ZHJhZnQ=", filename: "draft.txt", media_type: "text/plain" }, { do: "input_required", text: "Is it right?" }],
    next: [{ do: "artifact", id: "final", raw: "ZmluYWw=", filename: "final.txt", media_type: "text/plain" }, { do: "complete", text: "It is final." }],
  },
};

/** The Workers and servers of a running spec, with functions for the tests. */
export interface Team {
  here: Worker;
  there: Worker;
  model: ModelServer;
  /** The server of the agent `plain`. */
  sink: Sink;
  /** An agent of the Worker `here`, which has the coordinators. */
  of(slug: string): Agent;
  /** An agent of the Worker `there`. */
  far(slug: string): Agent;
  /** The result in the newest request to the model for the call with this id. */
  told(id: string): string;
}

/** Starts both Workers before the tests of a spec, with coordinators of these slugs, each for these agents, and stops them afterwards. */
export function withTeam(leads: Record<string, string[]>, timeouts: Record<string, number> = {}): Team {
  const team = {} as Team;
  before(async () => {
    [team.model, team.sink] = await Promise.all([ModelServer.start(), Sink.open()]);
    team.there = await startWorker({ vars: { AGENTS: agents({}, {}) } });
    const urls = { NEXT_URL: team.there.url, MODEL_URL: team.model.url, SINK: team.sink.url };
    team.here = await startWorker({ vars: { AGENTS: agents(leads, timeouts), KEEP_ALIVE_MS: "1000", ...urls } });
  });
  after(async () => {
    await Promise.all([team.here?.stop(), team.there?.stop()]);
    team.model?.stop();
    team.sink?.close();
  });
  team.of = (slug) => new Agent(`${team.here.url}/${slug}`);
  team.far = (slug) => new Agent(`${team.there.url}/${slug}`);
  team.told = (id) => resultsIn(team.model.last)[id] ?? "nothing";
  return team;
}

/** The only unfinished task of an agent, after waiting for this state. */
export async function unfinished(agent: Agent, state: string): Promise<Task> {
  const all = await until(() => open(agent), (tasks) => tasks.length === 1 && tasks[0]?.status.state === state);
  return all[0] as Task;
}

/** Waits until all tasks of these agents have ended. */
export async function nothingIsLeft(...agents: Agent[]): Promise<void> {
  for (const agent of agents) await until(() => open(agent), (tasks) => tasks.length === 0);
}

const open = async (agent: Agent): Promise<Task[]> => (await agent.listTasks()).tasks.filter(({ status }) => !isTerminal(status.state));

function agents(leads: Record<string, string[]>, timeouts: Record<string, number>): string {
  const { agents, remotes = [], ...built } = JSON.parse(testAgents) as Built;
  const demo = agents.find(({ slug }) => slug === "demo");
  assert.ok(demo);
  const made = (slug: string, executor: object): Embedded => {
    const card = JSON.parse(demo.card.replaceAll("/demo", `/${slug}`)) as object;
    const skills = [{ id: "do", name: "Do", description: "Does it.", tags: [] }];
    return { ...demo, slug, default: false, card: JSON.stringify({ ...card, name: slug, skills }), executor: { run: {}, ...executor } };
  };
  const scripted = Object.entries(scripts).map(([slug, { then, next }]) => {
    const rule = { then, ...(next !== undefined && { follow_up: [{ then: next }] }) };
    return made(slug, { kind: "script", table: { rules: [rule] } });
  });
  const fronts = Object.keys(scripts).map((slug) => made(`front-${slug}`, { kind: "remote", table: { remote: `far-${slug}`, silence_ms: 1000 } }));
  const leading = Object.entries(leads).map(([slug, named]) =>
    made(slug, { kind: "model", table: { model: "said-model", base_url: "${MODEL_URL}", event_interval_ms: 20, agents: named } }),
  );
  const far = Object.keys(scripts).map((slug) => ({ name: `far-${slug}`, table: { url: `\${NEXT_URL}/${slug}` } }));
  const hurried = Object.entries(timeouts).flatMap(([slug, timeout_ms]) => [
    { name: `hurried-${slug}`, table: { agent: slug, timeout_ms } },
    { name: `far-hurried-${slug}`, table: { url: `\${NEXT_URL}/${slug}`, timeout_ms } },
  ]);
  const plain = { name: "plain", table: { url: "${SINK}/plain" } };
  return JSON.stringify({ ...built, agents: [...agents, ...scripted, ...fronts, ...leading], remotes: [...remotes, ...far, ...hurried, plain] });
}
