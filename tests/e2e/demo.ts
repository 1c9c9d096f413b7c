// The Worker of a spec file, and its agent `demo`.

import { after, before } from "node:test";
import { Agent } from "./client.ts";
import { startWorker, type Worker, type WorkerOptions } from "./harness.ts";

export let worker: Worker;
export let demo: Agent;

/** Runs the tests of the file against a Worker. */
export function withWorker(options: WorkerOptions = {}): void {
  before(async () => {
    worker = await startWorker(options);
    demo = new Agent(`${worker.url}/demo`);
  });
  after(() => worker.stop());
}
