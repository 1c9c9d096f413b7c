// A model and an agent behind HTTP that return the same text at once, and agents that call them.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { testAgents } from "../tests/e2e/harness.ts";

/** The text of every answer. */
export const TEXT = "one two three";

export interface Answering {
  /** The origin of both servers. */
  url: string;
  /** The variables of a Worker with which its agents `thinker` and `speaker` call the two servers. */
  vars: Record<string, string>;
  close(): Promise<unknown>;
}

export async function startAnswering(): Promise<Answering> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const isModel = request.url?.startsWith("/v1/") === true;
      response.writeHead(200, { "content-type": isModel ? "text/event-stream" : "application/json" });
      response.end(isModel ? COMPLETION : VERBS);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    vars: { AGENTS: withSpeaker(`${url}/turn`), MODEL_URL: `${url}/v1`, MODEL_KEY: "no-key-is-asked-for", SINK: url },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The agents of the tests, and `speaker`, an agent behind HTTP. */
function withSpeaker(url: string): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string }[] };
  const speaker = { ...agents.find(({ slug }) => slug === "faults"), slug: "speaker", default: false, development: false, executor: { kind: "http", table: { url }, run: {} } };
  return JSON.stringify({ ...built, agents: [...agents, speaker] });
}

const VERBS = JSON.stringify([{ do: "artifact", id: "answer", text: TEXT }, { do: "complete" }]);

const chunk = (choices: object[], more: object = {}): object => ({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more });
const delta = (delta: object, finish: string | null = null): object => chunk([{ index: 0, delta, finish_reason: finish }]);
const usage = { prompt_tokens: 20, completion_tokens: 3, total_tokens: 23 };
const events = [delta({ role: "assistant", content: TEXT }), delta({}, "stop"), chunk([], { usage })];
const COMPLETION = [...events.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
