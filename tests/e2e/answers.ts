// The answers of both bindings in one form, so that a test can run with either binding.

import type { ErrorDetail } from "./client.ts";

export type Headers = Record<string, string>;

/** An answer of either binding. */
export interface Answer {
  /** The HTTP status; over JSON-RPC, for an error, its code. */
  status: number;
  /** Undefined if the answer is an error. */
  result: unknown;
  /** The header `Generation`. */
  generation: number | undefined;
  /** The header `A2A-Extensions`. */
  extensions: string | null;
  /** The message of the error. */
  error: string | undefined;
  /** The reason of the error, and its metadata. */
  reason: string | undefined;
  info: Record<string, string> | undefined;
  /** The refused fields. */
  fields: string[];
}

interface Failure {
  code: number;
  message: string;
}

/** Calls a method at a JSON-RPC endpoint. */
export async function rpc(endpoint: string, method: string, params: unknown, headers?: Headers): Promise<Answer> {
  const response = await request(endpoint, "POST", { jsonrpc: "2.0", id: 1, method, params }, headers);
  const { result, error } = (await response.json()) as { result?: unknown; error?: Failure & { data: ErrorDetail[] } };
  return read(response, error?.code ?? response.status, result, error, error?.data);
}

/** Makes a request of the HTTP+JSON binding. */
export async function rest(url: string, verb: string, body?: unknown, headers?: Headers): Promise<Answer> {
  const response = await request(url, verb, body, headers);
  const result = (await response.json()) as { error?: Failure & { details: ErrorDetail[] } };
  return read(response, response.status, result, result.error, result.error?.details);
}

function request(url: string, method: string, body: unknown, headers: Headers | undefined): Promise<Response> {
  const own = { "content-type": "application/json", "a2a-version": "1.0" };
  return fetch(url, { method, headers: { ...own, ...headers }, body: body === undefined ? null : JSON.stringify(body) });
}

function read(response: Response, status: number, result: unknown, error?: Failure, details: ErrorDetail[] = []): Answer {
  const generation = response.headers.get("generation");
  const info = details.find((detail) => detail.reason !== undefined);
  return {
    status,
    result: error === undefined ? result : undefined,
    generation: generation === null ? undefined : Number(generation),
    extensions: response.headers.get("a2a-extensions"),
    error: error?.message,
    reason: info?.reason,
    info: info?.metadata,
    fields: details.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field),
  };
}
