// Whether an agent takes what somebody has typed, before it is kept.
import { prepare } from "../api/http.ts";
import { Problem, problemOf } from "../api/problem.ts";
import { place } from "./credentials.ts";
import type { Slot } from "./schemes.ts";

/** What an agent says that is not set up. */
const INTERNAL_ERROR = -32603;

/** A secret and where it goes. */
export interface Given {
  slot: Slot;
  secret: string;
}

/** Asks the agent who is there, by a call that changes nothing. Gives the refusal; undefined if there is none. */
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
    // What an agent without extended card says to callers whom it knows is no refusal of the caller.
    return response.ok && problem.code !== INTERNAL_ERROR ? undefined : problem;
  } catch {
    return new Problem("The server cannot be reached.");
  }
}
