// Helpers for the specs of callbacks: tasks that wait for a callback, and posts to it.
import { connect } from "node:net";
import { until, type Agent, type Part, type Task } from "./client.ts";

export const MINUTE_MS = 60_000;
export const MEBIBYTE = 1024 * 1024;

/** Begins a task that waits for a callback; returns its id and the URL of the callback. */
export async function beginAt(agent: Agent, text = `callback ${MINUTE_MS}`): Promise<{ id: string; url: string }> {
  const { id } = await agent.sendForTask(text, { returnImmediately: true });
  const task = await until(() => agent.getTask(id), ({ artifacts }) => artifacts?.length === 1);
  const { url } = task.artifacts?.[0]?.parts[0]?.data as { url: string };
  return { id, url };
}

export const post = (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Response> => fetch(url, { method: "POST", body, headers });

export const statusOf = async (response: Promise<Response>): Promise<number> => {
  const { status, body } = await response;
  await body?.cancel();
  return status;
};

/** The callback bodies in the artifacts of a task, in order. */
export const bodiesOf = ({ artifacts }: Task): (Part | undefined)[] => (artifacts ?? []).slice(1).map(({ parts }) => parts[0]);

/** Posts the head of a request and a part of its body; returns the status of an early answer, if there is one. */
export function postPart(url: string, headers: string[], part: string | Buffer): Promise<{ status?: number; send(rest: string): void; answer: Promise<number | undefined>; close(): void }> {
  const { port, pathname } = new URL(url);
  const socket = connect({ port: Number(port), host: "127.0.0.1" });
  let text = "";
  const statusIn = (): number | undefined => (text === "" ? undefined : Number(text.split(" ")[1]));
  const answer = new Promise<number | undefined>((resolve) => {
    socket.on("data", (data) => resolve(((text += data), statusIn())));
    socket.on("error", () => resolve(statusIn())).on("close", () => resolve(statusIn()));
  });
  socket.write([`POST ${pathname} HTTP/1.1`, "host: x", "content-type: text/plain", ...headers, "", ""].join("\r\n"));
  socket.write(part);
  const late = new Promise<void>((resolve) => setTimeout(resolve, 5_000).unref());
  return Promise.race([answer, late]).then((status) => ({
    ...(typeof status === "number" ? { status } : {}), answer, send: (rest) => void socket.write(rest), close: () => void socket.destroy(),
  }));
}

export const DECLARED = `content-length: ${MEBIBYTE}`;
export const CHUNK = 100 * 1024;
export const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
