// The events and requests that an agent of kind "remote" passes between its clients and a server with an official SDK
// (agent.ts, sample.py).

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, followUp, message, textOf, until, type Task } from "../client.ts";
import { withFronts } from "../fronts.ts";
import { startWorker, type Worker } from "../harness.ts";
import { Relay } from "../relay.ts";
import { EventStream } from "../stream.ts";
import type { SampleServer } from "./js.ts";

/** A server, and the settings of its front. */
export interface Passed {
  /** The name of the server in the tests. */
  name: string;
  start: () => Promise<SampleServer>;
  /** Settings of the remote agent. */
  settings?: object;
  /** The reason to skip it; `false` if it is tested. */
  skip?: string | false;
}

/** Tests a Worker with a front of each server: the fronts pass on all events of the agents behind them. */
export function passes(...servers: Passed[]): void {
  const running = new Map<string, { server: SampleServer; relay: Relay }>();
  let worker: Worker;
  before(async () => {
    const fronts = servers.filter(({ skip = false }) => skip === false).map(async ({ name, start, settings }) => {
      const server = await start();
      const relay = await Relay.open(() => server.url);
      running.set(name, { server, relay });
      return [slugOf(name), { remote: { url: relay.url, retry_delay_ms: 50, ...settings } }] as const;
    });
    worker = await startWorker({ vars: { AGENTS: withFronts(Object.fromEntries(await Promise.all(fronts))) } });
  });
  after(async () => {
    await worker?.stop();
    for (const { server, relay } of running.values()) {
      relay.close();
      await server.stop();
    }
  });

  for (const { name, skip = false } of servers) {
    const front = (): Agent => new Agent(`${worker.url}/${slugOf(name)}`);
    const told = ({ status, artifacts = [] }: Task) => [status.state, textOf(status.message), artifacts.map((artifact) => [artifact.artifactId, artifact.name, textOf(artifact)])];
    describe(`a front of a server with ${name}`, { skip }, () => {
      test("streams its artifact chunk by chunk, and has it whole in the end (§3.1.2)", async () => {
        const stream = await EventStream.open(front().endpoint, "SendStreamingMessage", { message: message("chunks") });
        const events = (await stream.rest()).map(({ data }) => data.result);
        const chunks = events.flatMap((event) => event?.artifactUpdate ?? []);
        const pieces = chunks.map(({ artifact, append }) => [artifact.artifactId, textOf(artifact), append ?? false]);
        assert.deepEqual(pieces, [["answer", "one ", false], ["answer", "two ", true], ["answer", "three", true]]);
        const id = chunks[0]?.taskId ?? "";
        assert.deepEqual(told(await front().getTask(id)), ["TASK_STATE_COMPLETED", "", [["answer", "answer", "one two three"]]]);
      });

      test("passes a question up, and its answer down to the same task (§3.4.3)", async () => {
        const asked = await front().sendForTask("ask");
        assert.deepEqual(told(asked), ["TASK_STATE_INPUT_REQUIRED", "which colour?", []]);
        const answered = await front().sendForTask(followUp(asked, "blue"));
        assert.deepEqual(told(answered), ["TASK_STATE_COMPLETED", "", [["answer", "answer", "blue"]]]);
        assert.deepEqual(answered.history?.map(textOf), ["ask", "which colour?", "blue"]);
      });

      test("ends its task by a cancel (§3.1.5)", async () => {
        const { id } = await front().sendForTask("slow", { returnImmediately: true });
        await until(() => front().getTask(id), ({ status }) => status.state === "TASK_STATE_WORKING");
        assert.equal((await front().cancelTask(id)).status.state, "TASK_STATE_CANCELED");
        const cancels = () => running.get(name)?.relay.answered.filter(({ method }) => /^CancelTask$|^tasks\/cancel$|:cancel$/.test(method)) ?? [];
        await until(() => Promise.resolve(cancels()), ({ length }) => length > 0);
        assert.match(cancels()[0]?.text ?? "", /"state":\s*"(TASK_STATE_CANCELED|canceled)"/);
        assert.equal(cancels().length, 1);
      });

      for (const [text, state, said] of [
        ["fail", "TASK_STATE_FAILED", "no luck"],
        ["reject", "TASK_STATE_REJECTED", "no luck"],
        ["message", "TASK_STATE_COMPLETED", "hello yourself"],
      ] as const) {
        test(`ends as that does after ${JSON.stringify(text)} (§3.1.1)`, async () => {
          assert.deepEqual(told(await front().sendForTask(text)), [state, said, []]);
        });
      }
    });
  }
}

const slugOf = (name: string): string => name.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
