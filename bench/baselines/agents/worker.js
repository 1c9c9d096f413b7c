// The second baseline: an agent with Cloudflare's agents SDK, as its documentation shows how to write one. A message makes an object, whose durable task (`agents/tasks`)
// appends what it says to a durable stream (`agents/streams`); clients read the stream as server-sent events and resume it by `Last-Event-ID`.
//
// The package has no server of A2A. The front Worker reads as much of the calls as the benchmarks need to give all servers the same load: the text of a message, the id of a
// task. What it leaves out: the rules of the protocol, states and history of tasks, lists (nothing is written to D1), cards, webhooks, access.

import { DurableObject } from "cloudflare:workers";
import { Lifecycle } from "agents/lifecycle";
import { Streams, sseResponse } from "agents/streams";
import { Tasks } from "agents/tasks";
import { chunk } from "../../chunk.ts";

const REPLY = "reply";

export class TaskObject extends DurableObject {
  streams = new Streams();
  tasks = new Tasks({ definitions: { "answer@v1": (input, step) => this.answer(input, step) } });
  lifecycle = Lifecycle.install(this).use(this.tasks).use(this.streams);

  /** Those who wait for the end of the task. */
  #waiting = [];

  /**
   * Gives back the text of the message; for `hold 500` after half a second, for `chunks 500 every 20` in pieces, for `steps 10` after as many steps, each with a request to
   * a URL if one is named.
   */
  async answer({ id, text }, step) {
    const stream = await this.streams.open(REPLY);
    if (stream.cursor === 0) stream.append(statusOf(id, "TASK_STATE_WORKING"));
    const [kind, first, , second] = text.split(" ");
    if (kind === "hold") await new Promise((resolve) => setTimeout(resolve, Number(first)));
    if (kind === "chunks") await step.do("write", () => this.#write(stream, Number(first), Number(second)));
    if (kind === "steps") await this.#take(step, Number(first), second);
    if (kind !== "chunks" && kind !== "steps") text = await step.do("echo", () => text);
    if (kind !== "chunks") stream.append(artifactOf(id, text));
    stream.append(statusOf(id, "TASK_STATE_COMPLETED"));
    stream.close();
    for (const tell of this.#waiting.splice(0)) tell();
    return text;
  }

  /** A step that is done again goes on behind the last piece that is stored; the first entry is the status. */
  async #write(stream, count, everyMs) {
    while (stream.cursor <= count) {
      stream.append(chunk(Date.now()));
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  async #take(step, count, url) {
    for (let index = 1; index <= count; index += 1) {
      await step.do(`step-${index}`, async () => {
        if (url !== undefined) await fetch(`${url}/${index}`);
        return index;
      });
    }
  }

  /** Begins the task. */
  async begin(id, text) {
    await this.tasks.run("answer@v1", { id, text });
  }

  /** Begins the task, and returns when it has ended. */
  async run(id, text) {
    const ended = new Promise((resolve) => this.#waiting.push(resolve));
    await this.begin(id, text);
    await ended;
  }

  /** A stream: of a new task for a POST, which has its message, else of the task. */
  async onRequest(request) {
    if (request.method === "POST") {
      const { id, text } = await request.json();
      await this.streams.open(REPLY);
      await this.begin(id, text);
    }
    return sseResponse(this.streams, REPLY, { request });
  }
}

export default {
  async fetch(request, { TASKS }) {
    const { method, params } = await request.json();
    if (method === "SubscribeToTask") return TASKS.getByName(params.id).fetch(request.url, { headers: request.headers });
    const id = crypto.randomUUID();
    const text = params.message.parts.map(({ text = "" }) => text).join("");
    const object = TASKS.getByName(id);
    if (method === "SendStreamingMessage") return object.fetch(request.url, { method: "POST", body: JSON.stringify({ id, text }) });
    const { returnImmediately = false } = params.configuration ?? {};
    await (returnImmediately ? object.begin(id, text) : object.run(id, text));
    const state = returnImmediately ? "TASK_STATE_WORKING" : "TASK_STATE_COMPLETED";
    return Response.json({ jsonrpc: "2.0", id: 1, result: { task: { id, status: { state }, artifacts: returnImmediately ? [] : [artifactOf(id, text)] } } });
  },
};

const statusOf = (taskId, state) => ({ statusUpdate: { taskId, status: { state, timestamp: new Date().toISOString() } } });

const artifactOf = (taskId, text) => ({ artifactUpdate: { taskId, artifact: { artifactId: "echo", parts: [{ text }] } } });
