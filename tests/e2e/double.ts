// The scripted agent `double` of tests/agents for specs: they set its script, and read its received requests.

import assert from "node:assert/strict";
import { received, type ReceivedRequest } from "./client.ts";
import { call } from "./rest.ts";

/** The default script: returns the text. */
export const ECHO = [{ then: [{ do: "working" }, { do: "artifact", id: "echo", text: "{text}" }, { do: "complete" }] }];

/** The double of a Worker. */
export class Double {
  readonly url: string;
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
    this.url = `${origin}/double`;
  }

  /** Sets the script of the agent `double`, and clears its received requests. */
  async play(script: { rules?: object[]; faults?: object[] }): Promise<void> {
    const answer = await this.script("POST", { rules: ECHO, ...script });
    assert.equal(answer.status, 200, await answer.text());
    await fetch(`${this.#origin}/_dev/received`, { method: "DELETE" });
  }

  /** Reads, sets or restores its script. */
  script(verb: string, body?: unknown): Promise<Response> {
    return call(verb, `${this.#origin}/_dev/script/double`, body);
  }

  /** The requests that the agent `double` has received. */
  async requests(): Promise<ReceivedRequest[]> {
    return (await received(this.#origin)).filter(({ agent }) => agent === "double");
  }
}
