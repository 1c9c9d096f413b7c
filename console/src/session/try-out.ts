// Checks that an agent accepts the typed secrets, before they are kept.
import { prepare } from "../api/http.ts";
import { Problem, problemOf } from "../api/problem.ts";
import { place } from "./credentials.ts";
import type { Slot } from "./schemes.ts";

/** The code of an agent that has no extended card configured. */
const INTERNAL_ERROR = -32603;

/** A secret with its slot. */
export interface Given {
  slot: Slot;
  secret: string;
}

/**
 * Sends the secrets to the agent with a call that changes nothing. Returns the refusal; undefined if the secrets are
 * accepted.
 */
export async function refusalOf(agent: string, given: Given[]): Promise<Problem | undefined> {
  const { url, headers } = prepare({ agent, path: `/${agent}`, body: {} });
  try {
    for (const { slot, secret } of given) place(slot, secret, url, headers);
  } catch {
    return new Problem("A key or token has letters that a header cannot carry: copy it anew.");
  }
  try {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetExtendedAgentCard" });
    const response = await fetch(url, { method: "POST", headers, body, credentials: "same-origin", cache: "no-store", redirect: "error" });
    const text = await response.text();
    const problem = problemOf(response.status, response.headers, text);
    // The error of an agent without an extended card does not refuse the caller.
    return response.ok && problem.code !== INTERNAL_ERROR ? undefined : problem;
  } catch {
    return new Problem("The server cannot be reached.");
  }
}
