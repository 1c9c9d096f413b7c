// A Worker with agents of kind "model", their model, and the server of their tools.
import { after, before } from "node:test";
import { fresh } from "./access.ts";
import { Agent } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { ModelServer } from "./model-server.ts";
import { Sink } from "./sink.ts";

/** The differences of an agent from the thinker of tests/agents. */
export interface Variant {
  /** Keys of `[executor.model]`. */
  table?: object;
  access?: object;
  /** Skills that require permissions: their ids and permissions. */
  restricted?: Record<string, string[]>;
  run?: object;
}

/** The surroundings of a spec, while it runs. */
export interface Thinking {
  worker: Worker;
  model: ModelServer;
  sink: Sink;
  /** The key that the provider requires. */
  key: string;
  /** The agent with this name: `thinker`, or one of the variants. */
  agent(name?: string, headers?: Record<string, string>): Agent;
  /** Ends the Worker's process like a crash, and starts another one. */
  killAndRestart(): Promise<void>;
}

/** Starts a Worker with the thinker and these variants before the tests of a spec, and stops it afterwards. `services`: see `WorkerOptions`. */
export function withThinkers(variants: Record<string, Variant> = {}, vars: Record<string, string> = {}, services: Record<string, string> = {}): Thinking {
  const thinking = { key: fresh() } as Thinking;
  before(async () => {
    [thinking.model, thinking.sink] = await Promise.all([ModelServer.start(), Sink.open()]);
    const { model, sink, key } = thinking;
    thinking.worker = await startWorker({ services, vars: { AGENTS: withVariants(variants), MODEL_URL: model.url, MODEL_KEY: key, SINK: sink.url, ...vars } });
  });
  after(async () => {
    await thinking.worker?.stop();
    thinking.model?.stop();
    thinking.sink?.close();
  });
  thinking.agent = (name = "thinker", headers = {}) => new Agent(`${thinking.worker.url}/${name}`, headers);
  thinking.killAndRestart = async () => {
    await thinking.worker.kill9();
    await thinking.worker.restart();
  };
  return thinking;
}

interface Embedded {
  slug: string;
  card: string;
  executor: { table: object; run: object };
  restricted?: object[];
}

/** The agents of tests/agents, and these variants of the thinker. */
export function withVariants(variants: Record<string, Variant>): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: Embedded[] };
  const thinker = agents.find(({ slug }) => slug === "thinker");
  if (thinker === undefined) throw new Error("tests/agents/thinker.toml is not built");
  const { skills } = JSON.parse(thinker.card) as { skills: { id: string }[] };
  const made = Object.entries(variants).map(([slug, { table, access, restricted = {}, run }]) => ({
    ...thinker, slug, default: false, ...(access !== undefined && { access }),
    restricted: Object.entries(restricted).map(([id, permissions]) => {
      const position = skills.findIndex((skill) => skill.id === id);
      return { permissions, position: Math.max(position, 0), skill: skills[position] ?? { id, name: id, description: id, tags: [] } };
    }),
    executor: { ...thinker.executor, table: { ...thinker.executor.table, ...table }, run: { ...thinker.executor.run, ...run } },
  }));
  return JSON.stringify({ ...built, agents: [...agents, ...made] });
}
