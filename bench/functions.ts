// The cost of executors in TypeScript: of a send, compared with scripts, which Rust carries out; and of what a run calls.

import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { testAgents } from "../tests/e2e/harness.ts";
import { checked } from "../tests/e2e/product.ts";
import { computing, contest, type Entrant, type Measured } from "./comparison/contest.ts";
import { repeating, SENDS, shortened } from "./comparison/entrants.ts";
import { digits, median, milliseconds, times, type Effort, type Section } from "./figures.ts";
import { Connections, send } from "./http.ts";
import { Cores } from "./processor.ts";
import { root, startBuilt, type Worker } from "./workers.ts";

/** The time until WebAssembly and JavaScript are fully compiled. */
const WARM_UP_MS = 6_000;

/** How often a run repeats a call, and the events of its task that come with it. */
const REPEATS = 200;

/** The entry module with the executors of the benchmarks, and one without functions. */
export const ENTRY = join(root, "bench", "functions", "entry.ts");
export const PLAIN = join(root, "bench", "functions", "plain.ts");

type Embedded = { slug: string; card: string; executor: object };

/** The agents of the benchmarks, as the variable `AGENTS` has them: copies of `demo` whose slugs say what their executors do. */
export function functionAgents(): string {
  const { agents, built_ms } = JSON.parse(testAgents) as { agents: Embedded[]; built_ms: number };
  const demo = agents.find(({ slug }) => slug === "demo");
  if (demo === undefined) throw new Error("tests/agents/demo.toml is not built");
  const made = (slug: string, executor: object) => ({ ...demo, slug, default: false, card: demo.card.replaceAll("/demo", `/${slug}`), executor: { run: {}, ...executor } });
  const ends = [{ do: "artifact", id: "result", text: "{text}" }, { do: "complete" }];
  const script = (...actions: object[]) => ({ kind: "script", table: { rules: [{ then: [{ do: "working" }, ...actions] }] } });
  const kinds = ["returning", "awaiting", "sleeping", "stepping", "streaming", "repeating", "chunking"];
  return JSON.stringify({
    built_ms,
    agents: [
      { ...demo, default: true },
      made("script", script(...ends)),
      made("waiting-script", script({ do: "wait", ms: 1 }, ...ends)),
      made("chunks-script", script({ do: "artifact", id: "result", chunks: ["tick "], repeat: REPEATS, delay_ms: 0 }, { do: "complete" })),
      made("statuses-script", script(...Array.from({ length: REPEATS }, (_, index) => ({ do: "working", text: `at ${index + 1}` })), { do: "complete" })),
      ...kinds.map((kind) => made(kind, { kind, table: {} })),
    ],
  });
}

const start = (): Promise<Worker> => startBuilt({ AGENTS: functionAgents() }, undefined, undefined, { entry: ENTRY, agents: checked(root) });

export async function functions(effort: Effort): Promise<Section[]> {
  using cores = new Cores();
  return [await sends(effort, cores), await calls(effort, cores), await sizes()];
}

/** The agents whose sends are compared: the slug of each, its description, and the slug that it is compared with. */
const AGENTS: { slug: string; name: string; baseline: string }[] = [
  { slug: "script", name: "a script that does not wait (baseline)", baseline: "script" },
  { slug: "returning", name: "TypeScript, returns its result", baseline: "script" },
  { slug: "waiting-script", name: "a script that waits once, for a timer of 1 ms (baseline)", baseline: "waiting-script" },
  { slug: "awaiting", name: "TypeScript, an `async` function", baseline: "waiting-script" },
  { slug: "sleeping", name: "TypeScript, waits once for a timer of 1 ms", baseline: "waiting-script" },
  { slug: "stepping", name: "TypeScript, one step", baseline: "waiting-script" },
  { slug: "streaming", name: "TypeScript, streams its result", baseline: "waiting-script" },
];

async function sends({ rounds, isQuick }: Effort, cores: Cores): Promise<Section> {
  const many = shortened(SENDS, isQuick);
  const entrants = AGENTS.map(({ slug, name }): Entrant => repeating({ role: "floor", name, start }, async ({ url }) => send(`${url}/${slug}`, () => "hello", '"hello"'), many));
  const outcome = await contest(entrants, 2 * rounds, cores);
  const taken = (slug: string): Measured[] => outcome[AGENTS.findIndex((of) => of.slug === slug)]?.rounds ?? [];
  return {
    title: "Executors in TypeScript",
    text:
      `A blocking send on ${many.connections} connections to agents that give back the text of the message, each in a process of its own, in turn. All make a task of ` +
      "four events. CPU is the processor time of all threads of the server's process, D1 and storage among them. The ratios are to the " +
      "baseline above: their median over the rounds, and the middle half of them. " +
      "A run that ends in its first poll is stored in one row; one that waits is announced before it continues, which costs a row and an alarm, in Rust and " +
      "in TypeScript alike. The goal for one that waits is 1.1×.",
    columns: ["executor", "CPU of a send", "÷ baseline", "middle half", "p50"],
    rows: AGENTS.map(({ slug, name, baseline }) => {
      const ratios = ratiosOf(taken(slug), taken(baseline), "cpuMs");
      return [
        name, milliseconds(figure(taken(slug), "cpuMs")), times(median(ratios), 1),
        slug === baseline ? "" : middleHalf(ratios),
        milliseconds(figure(taken(slug), "p50")),
      ];
    }),
  };
}

const figure = (taken: Measured[], name: string): number => median(taken.map((measured) => measured[name] ?? NaN));

const ratiosOf = (taken: Measured[], baseline: Measured[], name: string): number[] =>
  taken.map((measured, round) => (measured[name] ?? NaN) / (baseline[round]?.[name] ?? NaN));

/** From the first quartile to the third. */
function middleHalf(values: number[]): string {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (part: number) => digits(sorted[Math.round(part * (sorted.length - 1))] ?? NaN);
  return `${at(0.25)}–${at(0.75)}×`;
}

/** What a run of TypeScript calls, and the script with the same events, if there is one. */
const CALLS: { name: string; what: string; script?: string }[] = [
  { name: "a step: `turn.step`, whose work is done at once", what: "steps" },
  { name: "a status: `turn.working`", what: "statuses", script: "statuses-script" },
  { name: "a chunk: a part that is given to `turn.write`", what: "parts", script: "chunks-script" },
  { name: "a piece of text that is gathered with others in `turn.write`", what: "texts" },
];

async function calls({ rounds, sliceMs }: Effort, cores: Cores): Promise<Section> {
  const worker = await start();
  try {
    cores.giveTo(worker.pid);
    using connection = new Connections(1);
    const sent = (slug: string, text: string) => async (forMs: number): Promise<number> => {
      const [{ count }, cpuMs] = await computing(worker, () => connection.repeat(send(`${worker.url}/${slug}`, () => text), forMs));
      return cpuMs / count;
    };
    const rows: string[][] = [];
    for (const { name, what, script } of CALLS) {
      const many = sent("repeating", `${what} ${REPEATS}`);
      const none = sent("repeating", `${what} 0`);
      const scripted = script === undefined ? undefined : [sent(script, "go"), sent("script", "go")] as const;
      const all = [many, none, ...(scripted ?? [])];
      for (const measure of all) await measure(WARM_UP_MS / all.length);
      const taken: number[][] = [];
      for (let round = 0; round < 2 * rounds; round++) {
        const figures: number[] = [];
        for (const measure of all) figures.push(await measure(2 * sliceMs));
        taken.push(figures);
      }
      const micros = (index: number) => median(taken.map((figures) => (((figures[index] ?? NaN) - (figures[index + 1] ?? NaN)) * 1_000) / REPEATS));
      rows.push([name, `${digits(micros(0))} µs`, scripted === undefined ? "" : `${digits(micros(2))} µs`]);
    }
    return {
      title: "Calls of executors in TypeScript",
      text:
        `The processor time of a send whose run makes a call ${REPEATS} times, less that of a send whose run makes none, for each call; with one connection. It has ` +
        "what the call causes in the object: the event, its row, the larger task. Beside it the same events of a script.",
      columns: ["call", "TypeScript", "a script"],
      rows,
    };
  } finally {
    await worker.stop();
  }
}

/** The sizes of what functions add to an upload. */
async function sizes(): Promise<Section> {
  const bundle = async (contents: string, minify: boolean) => {
    const stdin = { contents, resolveDir: join(root, "js"), loader: "js" as const };
    const { outputFiles } = await build({ stdin, bundle: true, format: "esm", write: false, minify, external: ["a2a-edge/engine", "cloudflare:*"] });
    return Buffer.from(outputFiles[0]?.contents ?? []);
  };
  const kilobytes = (bytes: Buffer) => `${digits(gzipSync(bytes, { level: 9 }).length / 1_000)} KB`;
  const all = 'export * from "./index.js";';
  return {
    title: "Size of the interface",
    text: "The modules of `a2a-edge` that an entry module imports, bundled by esbuild as wrangler does it, beside the engine.",
    columns: ["", "gzip"],
    rows: [
      ["`js/api`, as wrangler bundles it", kilobytes(await bundle(all, false))],
      ["`js/api`, minified", kilobytes(await bundle(all, true))],
      ["the engine: `index_bg.wasm` and `engine.js`", kilobytes(Buffer.concat(["index_bg.wasm", "engine.js"].map((name) => readFileSync(join(root, "build", name)))))],
    ],
  };
}
