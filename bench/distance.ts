// The latencies of clients if D1 is far away.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { around } from "./around.ts";
import { startSdk } from "./baselines/start.ts";
import { mediansOf } from "./comparison/compared.ts";
import { contest, type Entrant, type Measured } from "./comparison/contest.ts";
import { pageOf, sdk, speakers, type Speaker } from "./comparison/entrants.ts";
import { firstEventTimes } from "./comparison/streams.ts";
import { median, milliseconds, times, type Effort, type Section } from "./figures.ts";
import { Connections, send } from "./http.ts";
import { Cores } from "./processor.ts";
import { bundled } from "../tests/e2e/product.ts";
import { builtFolder, root, startVariant } from "./workers.ts";

const TASKS = 20;
const WARM_UP_MS = 1_500;

/** A Worker, and the same Worker with a distant D1. */
interface Pair {
  near: Speaker;
  far: Speaker;
}

const FIGURES = ["sendMs", "firstMs", "listMs"];

export async function distance({ rounds, sliceMs }: Effort): Promise<Section> {
  using cores = new Cores();
  const pairs = [await ours(), theirs("TypeScript", {}), theirs("TypeScript, changes within 300 ms listed at once", { INDEX_DELAY_MS: "300" })];
  const entrants = pairs.flatMap(({ near, far }) => [waiting(near, sliceMs), waiting(far, sliceMs)]);
  const outcome = await contest(entrants, Math.ceil(rounds / 2), cores);
  const figure = (index: number, name: string): number => mediansOf(outcome[index]?.rounds ?? [])[name] ?? NaN;
  return {
    title: "A distant D1",
    text:
      "D1 has one place, and answers late where that is far from the Worker. Here it answers 30 ms later than it does otherwise " +
      "(`bench/distant.js`). One connection; medians; × is the ratio to the same with D1 near.",
    columns: ["", "SendMessage, echo", "×", "first event of a stream", "×", `ListTasks, ${TASKS}`, "×"],
    rows: pairs.map(({ near }, index) => {
      const [before, now] = [2 * index, 2 * index + 1];
      return [near.name, ...FIGURES.flatMap((name) => [milliseconds(figure(now, name)), times(figure(now, name), figure(before, name))])];
    }),
  };
}

async function ours(): Promise<Pair> {
  const [near] = speakers(undefined) as [Speaker];
  const folder = join(root, builtFolder);
  const modules = { "index.js": distant(await bundled(folder)), "index_bg.wasm": readFileSync(join(folder, "index_bg.wasm")) };
  return { near, far: { ...near, start: () => startVariant(modules, { DEVELOPMENT: "false" }) } };
}

function theirs(name: string, vars: Record<string, string>): Pair {
  const near = sdk(name, vars);
  return { near, far: { ...near, start: () => startSdk(vars, distant) } };
}

function distant(bundle: string): string {
  return around(bundle, "distant.js", "distantFront", "distantObject");
}

/** Median latencies of requests on one connection. */
function waiting({ role, name, start, endpoint }: Speaker, sliceMs: number): Entrant {
  return {
    role,
    name,
    start,
    async prepare(worker) {
      const connection = new Connections(1);
      const at = endpoint(worker);
      await connection.repeat(send(at, () => "hello"), WARM_UP_MS);
      return async (): Promise<Measured> => {
        const { p50: sendMs } = await connection.repeat(send(at, () => "hello"), sliceMs);
        const { p50: listMs } = await connection.repeat({ ...pageOf(at, TASKS, 0), answer: "totalSize" }, sliceMs);
        return { sendMs, listMs, firstMs: median(await firstEventTimes(at, sliceMs)) };
      };
    },
  };
}
