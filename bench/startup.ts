// The time from the start of a new process to its first answer.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { request } from "node:http";
import type { ChildProcess } from "node:child_process";
import { median, milliseconds, times, type Section } from "./figures.ts";
import { ENTRY, PLAIN, functionAgents } from "./functions.ts";
import { card } from "./http.ts";
import { EMPTY_WASM, root, startBuilt, startVariant, type Worker } from "./workers.ts";
import { checked } from "../tests/e2e/product.ts";

/** A round takes less than two seconds. */
const ROUNDS = 15;

/** A Worker without work, with everything that the tests' harness requires. */
const EMPTY = {
  "index.js": `import { DurableObject } from "cloudflare:workers";
    export class TaskObject extends DurableObject {}
    export default { fetch: () => new Response("empty") };`,
  "index_bg.wasm": EMPTY_WASM,
};

/** Starts the build with an entry module and the agents of bench/functions.ts, of which the default one answers. */
const startWith = (entry: string): Promise<Worker> => startBuilt({ AGENTS: functionAgents() }, undefined, undefined, { entry, agents: checked(root) });

/** `gzip` is the size of the upload, from the output of `npm run size`. */
export async function startup(gzip: string): Promise<Section> {
  const workers: Worker[] = [];
  try {
    for (const start of [() => startVariant(EMPTY), () => startWith(PLAIN), () => startWith(ENTRY)]) workers.push(await start());
    for (const worker of workers) {
      await worker.kill9();
      await firstAnswer(worker);
    }
    const taken: number[][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const answers: number[] = [];
      for (const worker of workers) answers.push(await firstAnswer(worker));
      taken.push(answers);
    }
    const answer = (index: number) => milliseconds(median(taken.map((answers) => answers[index] ?? NaN)));
    const compared = (index: number, baseline: number) => taken.map((answers): [number, number] => [answers[index] ?? NaN, answers[baseline] ?? NaN]);
    const ratio = (index: number) => times(median(compared(index, 0).map(([own, empty]) => own / empty)), 1);
    const difference = (index: number, baseline: number) => milliseconds(median(compared(index, baseline).map(([own, other]) => own - other)));
    return {
      title: "Start and size",
      text:
        "From the start of a new workerd process, which has nothing cached, to the first answer (the card). The baseline is a Worker " +
        "that does nothing, so the difference is what loading, compiling and starting ours takes. The functions are the tools of src/tools.ts and six executors, " +
        "bundled with `js/api`. The size is that of the upload.",
      columns: ["worker", "first answer", "×", "difference", "difference by functions", "gzip size"],
      rows: [
        ["one that does nothing (baseline)", answer(0), "1×", "", "", ""],
        ["a2a-edge without functions", answer(1), ratio(1), difference(1, 0), "", gzip],
        ["a2a-edge with functions in TypeScript", answer(2), ratio(2), difference(2, 0), difference(2, 1), ""],
      ],
    };
  } finally {
    for (const worker of workers) await worker.stop();
  }
}

/** Starts a Worker that was ended, sends requests until it answers, and ends it again. */
async function firstAnswer(worker: Worker): Promise<number> {
  // A child's command line is only known after its announcement.
  const children: { child: ChildProcess; at: number }[] = [];
  const onChild = (event: unknown): void => {
    children.push({ child: (event as { process: ChildProcess }).process, at: performance.now() });
  };
  subscribe("child_process", onChild);
  try {
    const starting = worker.restart();
    const { url } = card(worker.url);
    while (!(await answers(url))) await new Promise((resolve) => setTimeout(resolve, 1));
    const answeredAt = performance.now();
    await starting;
    const begun = children.find(({ child }) => child.spawnfile.includes("workerd"))?.at;
    if (begun === undefined) throw new Error("workerd was not found among the processes started");
    return answeredAt - begun;
  } finally {
    unsubscribe("child_process", onChild);
    await worker.kill9();
  }
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(url, { agent: false }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode === 200));
    });
    sent.on("error", () => resolve(false)).end();
  });
}
