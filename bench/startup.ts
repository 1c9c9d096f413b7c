// The time from the start of a new process to its first answer.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { request } from "node:http";
import type { ChildProcess } from "node:child_process";
import { median, milliseconds, times, type Section } from "./figures.ts";
import { card } from "./http.ts";
import { EMPTY_WASM, startBuilt, startVariant, type Worker } from "./workers.ts";

/** A round takes less than a second. */
const ROUNDS = 5;

/** A Worker without work, with everything that the tests' harness requires. */
const EMPTY = {
  "index.js": `import { DurableObject } from "cloudflare:workers";
    export class TaskObject extends DurableObject {}
    export default { fetch: () => new Response("empty") };`,
  "index_bg.wasm": EMPTY_WASM,
};

/** `gzip` is the size of the upload, from the output of `npm run size`. */
export async function startup(gzip: string): Promise<Section> {
  const workers: Worker[] = [];
  try {
    workers.push(await startVariant(EMPTY), await startBuilt());
    for (const worker of workers) {
      await worker.kill9();
      await firstAnswer(worker);
    }
    const taken: [number, number][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const [empty, ours] = [await firstAnswer(workers[0] as Worker), await firstAnswer(workers[1] as Worker)];
      taken.push([empty, ours]);
    }
    const empty = median(taken.map(([empty]) => empty));
    return {
      title: "Start and size",
      text:
        "From the start of a new workerd process, which has nothing cached, to the first answer (the card). The baseline is a Worker " +
        "that does nothing, so the difference is what loading, compiling and starting ours takes. The size is that of the upload.",
      columns: ["worker", "first answer", "×", "difference", "gzip size"],
      rows: [
        ["one that does nothing (baseline)", milliseconds(empty), "1×", "", ""],
        [
          "a2a-edge",
          milliseconds(median(taken.map(([, ours]) => ours))),
          times(median(taken.map(([empty, ours]) => ours / empty)), 1),
          milliseconds(median(taken.map(([empty, ours]) => ours - empty))),
          gzip,
        ],
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
