// Bodies that are small as text and large as trees, and the memory of workerd for them.

import { readFileSync, writeFileSync } from "node:fs";
import { request, type IncomingHttpHeaders } from "node:http";

export const MEBIBYTE = 1024 * 1024;

/** The largest body that is accepted by default, and its largest number of values. */
const MAX_BYTES = 4 * MEBIBYTE;
const MAX_VALUES = 100_000;

/** The largest nesting of free-form JSON in a part. */
const DEPTH = 85;

/** A send of a message with these parts, and these other members. */
function send(parts: string, members = ""): string {
  return `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[${parts}]${members}}}}`;
}

/** Copies of `element`, which contains `values` JSON values: as many as fit into a body, with at most `most` values. */
function list(element: string, values: number, most = Infinity): string {
  const room = Math.floor((MAX_BYTES - 400) / (Buffer.byteLength(element) + 1));
  return Array.from({ length: Math.min(room, Math.floor((most - 50) / values)) }, () => element).join(",");
}

const nested = (open: string, inner: string, close: string) => open.repeat(DEPTH) + inner + close.repeat(DEPTH);
const names = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => `"${index.toString(36).padStart(length, "k")}":0`).join(",");

export const hostile = {
  /** Of the largest size, with too many values. */
  tooMany: {
    "objects of one member": () => send(`{"data":[${list('{"":0}', 3)}]}`),
    "lists in lists": () => send(`{"data":[${list("[[[]]]", 3)}]}`),
    "empty strings": () => send(`{"data":[${list('""', 1)}]}`),
    "escaped strings": () => send(`{"data":[${list('"\\u0041"', 1)}]}`),
    "numbers": () => send(`{"data":[${list("0", 1)}]}`),
    "one member again and again": () => send(`{"data":{${list('"a":0', 2)}}}`),
    "different members": () => send(`{"data":{${names(400_000, 5)}}}`),
    "parts": () => send(list('{"text":""}', 3)),
    "objects outside of a message": () => list('{"":0}', 3),
  },
  /** Bodies with the largest number of values, of the kinds that need most memory. */
  most: {
    "as many objects of one member as are taken": () => send(`{"data":[${list('{"":0}', 3, MAX_VALUES)}]}`),
    "as many nested objects as are taken": () => send(`{"data":[${list(nested('{"a":', "0", "}"), 2 * DEPTH + 1, MAX_VALUES)}]}`),
    "as many nested lists as are taken": () => send(`{"data":[${list(nested("[", "", "]"), DEPTH, MAX_VALUES)}]}`),
    "as many objects in metadata as are taken": () => send('{"text":"x"}', `,"metadata":{"a":[${list(nested('{"a":', "0", "}"), 2 * DEPTH + 1, MAX_VALUES)}]}`),
    "as many parts as values are taken": () => send(list('{"text":""}', 3, MAX_VALUES)),
    "as many extensions as values are taken": () => send('{"text":"x"}', `,"extensions":[${list('"a"', 1, MAX_VALUES)}]`),
    "as many values as are taken, and no end": () => send(`{"data":[${list(nested("[", "", "]"), DEPTH, MAX_VALUES)}`).slice(0, -8),
    "a text of escapes": () => send(`{"text":"${"\\u0041".repeat((MAX_BYTES - 400) / 6)}"}`),
  },
  /** Of the largest size and honest: the whole text is stored and returned. */
  large: {
    "a text, which the agent gives back once more": () => send(`{"text":"${"x".repeat(MAX_BYTES - 400)}"}`),
    "bytes": () => send(`{"raw":"${"AAAA".repeat((MAX_BYTES - 400) / 4)}"}`),
    "data": () => send(`{"data":[${list(`"${"x".repeat(100)}"`, 1)}]}`),
  },
};

/** Any answer. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Posts a body with its length declared, over a new connection. */
export function post(url: string, body: string | Buffer): Promise<Answer> {
  const headers = { "content-type": "application/json", "a2a-version": "1.0", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk)).on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.on("error", reject).end(body);
  });
}

/**
 * Sends messages until the code that parses them is fully compiled, and then a large plain text: for the first large body of any kind,
 * the runtime's memory grows once by about 20 MB.
 */
export async function warmUp(url: string): Promise<void> {
  const body = send(`{"data":[${list(nested('{"a":', '["x",{},1]', "}"), 2 * DEPTH, 3_000)}]}`);
  for (let sent = 0; sent < 40; sent++) await post(url, body);
  await post(url, send(JSON.stringify({ text: "x".repeat(3 * MEBIBYTE) })));
}

/** The memory growth of a process from now on (Linux). */
export function memoryOf(pid: number): { grown(): number } {
  const megabytes = (name: string) => {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return Number(found?.[1]) / 1024;
  };
  const idle = megabytes("VmRSS");
  // Resets VmHWM, the peak memory of the process.
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  return { grown: () => Math.max(0, Math.round(megabytes("VmHWM") - idle)) };
}
