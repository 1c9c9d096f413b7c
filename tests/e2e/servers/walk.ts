// Runs the walk through every operation (crates/a2a/tests/walk) against a server, and starts the servers in Python.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../../scripts/lib/port.mjs";
import { Sink } from "../sink.ts";
import type { SampleServer } from "./js.ts";

export type Binding = "JSONRPC" | "HTTP+JSON" | "auto";

/** The steps of the walk, in order. */
const STEPS = [
  "card", "send", "message", "parts", "stream", "poll", "ask", "observe", "fail", "cancel", "subscribe", "get", "list", "errors", "webhooks", "notified", "extended",
];

/** The deviations of a server: for a step, a pattern of the walk's report. */
export type Otherwise = Record<string, RegExp>;

/** Receives the notifications of all walks: servers may send some after a walk has ended. */
let sink: Sink | undefined;
after(() => sink?.close());

/** Walks through a server in one version over one binding. `server` is called when the test runs. */
export function walks(name: string, server: () => SampleServer, version: string, binding: Binding, otherwise: Otherwise = {}, skip: string | false = false): void {
  test(`the client calls every operation of ${name} in ${version} over ${binding}`, { skip }, async () => {
    sink ??= await Sink.open();
    const path = `/${randomUUID()}`;
    const { stdout } = await promisify(execFile)(join(folder, "walk"), [server().url, version, binding, sink.url + path]);
    const told = Object.fromEntries(stdout.trim().split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
    assert.deepEqual(Object.keys(told), STEPS);
    for (const step of STEPS) assert.match(told[step] ?? "", otherwise[step] ?? /^ok$/, `${step}: ${told[step]}`);

    // The webhook was registered with a message. Servers send the token, the credentials, or both.
    const { headers } = await sink.arrival(`${path}/w-2`);
    const secrets = [headers["x-a2a-notification-token"], headers["a2a-notification-token"], headers.authorization];
    assert.ok(secrets.some((secret) => secret === "token-1" || secret === "Bearer credentials-1"), JSON.stringify(headers));
  });
}

/**
 * Starts a server in Python: a program of this folder, or of this path, with this interpreter. It is ready when it returns its card; a
 * program without a card gets `more` arguments, and is ready when it answers at all.
 */
export async function startPython(interpreter: string, program: string, ...more: string[]): Promise<SampleServer> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const path = resolve(fileURLToPath(new URL(".", import.meta.url)), program);
  const child = spawn(interpreter, [path, new URL(url).port, ...more], { stdio: ["ignore", "ignore", "pipe"] });
  // The SDKs log refused requests; the log is only shown if the server does not start.
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log = (log + text).slice(-10_000)));
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  const deadline = Date.now() + 60_000;
  for (;;) {
    const card = await fetch(`${url}/.well-known/agent-card.json`).catch(() => undefined);
    if (card?.ok || (card !== undefined && more.length > 0)) return { url, stop };
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${program} does not answer: ${log}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** The folder of the native programs. `npm test` builds them; by hand: `cargo build --examples --features a2a-edge-protocol/native`. */
export const folder = process.env["A2A_EXAMPLES"] ?? fileURLToPath(new URL("../../../target/debug/examples", import.meta.url));
