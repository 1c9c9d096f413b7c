// A client of the HTTP+JSON binding (spec §11) that exposes the raw answers.

import assert from "node:assert/strict";
import { message, type ErrorDetail, type Task } from "./client.ts";

/** The body of an error answer. */
export interface Failure {
  error: { code: number; status: string; message: string; details: ErrorDetail[] };
}

export const JSON_TYPE = "application/json";

/** A request of a client; `body` is sent as JSON unless it is a text. */
export function call(verb: string, url: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const type: Record<string, string> = body === undefined ? {} : { "content-type": JSON_TYPE };
  const init: RequestInit = { method: verb, headers: { "a2a-version": "1.0", ...type, ...headers } };
  if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(url, init);
}

/** Sends a text to an agent and returns the task. */
export async function send(base: string, text: string, configuration?: object): Promise<Task> {
  const response = await call("POST", `${base}/message:send`, { message: message(text), configuration });
  assert.equal(response.status, 200, await response.clone().text());
  return ((await response.json()) as { task: Task }).task;
}

export async function getTask(base: string, id: string): Promise<Task> {
  return (await (await call("GET", `${base}/tasks/${id}`)).json()) as Task;
}

/** Asserts that an answer is an error in the form of the binding, and returns it. */
export async function failure(response: Response, code: number, status: string, reason: string): Promise<Failure["error"]> {
  const text = await response.text();
  assert.equal(response.status, code, text);
  assert.equal(response.headers.get("content-type"), JSON_TYPE);
  const body = JSON.parse(text) as Failure;
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.equal(body.error.code, code);
  assert.equal(body.error.status, status);
  assert.notEqual(body.error.message, "");
  const [info] = body.error.details;
  assert.equal(info?.["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
  assert.equal(info?.reason, reason);
  assert.equal(info?.domain, "a2a-protocol.org");
  return body.error;
}

/** The fields in an error. */
export const fieldsOf = (error: Failure["error"]): string[] =>
   error.details.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field);
