// A caller over its quota that sends steadily, whatever the answers: each send is counted and refused before any object of a task is called.

import { Agent as Pool, request } from "node:http";
import { Agent, message } from "../../tests/e2e/client.ts";
import type { Worker } from "../workers.ts";
import type { Attack, Running } from "./attack.ts";

/** The number of sends in a second. */
const PER_SECOND = 200;

/** The sends that begin together. */
const TOGETHER = 10;

export const storms: Attack[] = (["d1", "objects"] as const).map((index) => ({
  name: `${PER_SECOND} sends a second beyond a quota of 1 task, index in ${index === "d1" ? "D1" : "objects"}`,
  prepare: () => Promise.resolve({ vars: { INDEX: index }, close: () => Promise.resolve() }),
  begin,
}));

async function begin(worker: Worker): Promise<Running> {
  const url = `${worker.url}/thrifty`;
  const agent = new Agent(url);
  const task = await agent.sendForTask("ask");
  const pool = new Pool({ keepAlive: true });
  const waiting = new Set<Promise<void>>();
  const storm = setInterval(() => {
    for (let nth = 0; nth < TOGETHER; nth++) {
      const sent = refused(url, pool).finally(() => waiting.delete(sent));
      waiting.add(sent);
    }
  }, (1_000 * TOGETHER) / PER_SECOND);
  return {
    async stop() {
      clearInterval(storm);
      await Promise.all(waiting);
      pool.destroy();
      await agent.cancelTask(task.id);
    },
  };
}

/** A send that must be refused. */
function refused(url: string, agent: Pool): Promise<void> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: message("hello") } });
  const headers = { "content-type": "application/json", "a2a-version": "1.0", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, agent }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk)).on("error", reject);
      response.on("end", () => (text.includes("TOO_MANY_TASKS") ? resolve() : reject(new Error(`a send beyond the quota was answered ${text}`))));
    });
    sent.on("error", reject).end(body);
  });
}
