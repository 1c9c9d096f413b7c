// What the agents under test do: one script in three configurations (ACTS §11).

const working = { do: "working" };
const wait = (ms: number): object => ({ do: "wait", ms });
export const done = { do: "complete", text: "Done." };
const artifact = (content: object): object => ({ do: "artifact", ...content });
const file = { filename: "output.txt", media_type: "text/plain" };
const ask = { do: "input_required", text: "What else?" };

/** What a message does whose text begins so (ACTS §11.2; `tck-auth-required` is in the suite alone). */
export const BEHAVIORS: Record<string, { then: object[]; follow_up?: object[] }> = {
  "tck-complete-task": { then: [done] },
  "tck-input-required": { then: [ask] },
  "tck-auth-required": { then: [{ do: "auth_required", text: "Please sign in." }] },
  "tck-reject-task": { then: [{ do: "reject", text: "Rejected, as asked." }] },
  "tck-message-response": { then: [{ do: "message", text: "A message instead of a task." }] },
  "tck-artifact-text": { then: [artifact({ text: "Generated text content" }), done] },
  "tck-artifact-file": { then: [artifact({ raw: Buffer.from("Generated file content").toString("base64"), ...file }), done] },
  "tck-artifact-file-url": { then: [artifact({ url: "https://example.com/output.txt", ...file }), done] },
  "tck-artifact-data": { then: [artifact({ data: { key: "value", count: 42 } }), done] },
  // Long enough that its tests register a webhook and see it working, and over before they give up.
  "tck-long-running": { then: [working, wait(3_000), artifact({ text: "It took a while." }), done] },
  "tck-multi-turn": { then: [ask], follow_up: [{ when: { pattern: "^done" }, then: [done] }, { then: [ask] }] },
  "tck-cancel": { then: [working, wait(120_000), done] },
  // The pauses let a second stream begin while the first one goes on.
  "tck-stream-basic": { then: [working, wait(500), artifact({ text: "Streamed content" }), wait(500), done] },
  "tck-stream-chunked": { then: [working, artifact({ chunks: ["one ", "two ", "three"], delay_ms: 100 }), done] },
  "tck-task-failure": { then: [{ do: "fail", text: "It failed, as asked." }] },
};

/** The prefixes that the agents know. */
export const behaviors = Object.keys(BEHAVIORS);

/** One of the agents, as the tests see it by its card. */
export interface Configuration {
  slug: string;
  /** What it is for, as the page says it. */
  says: string;
  /** The headers that operations are sent with. */
  headers: Record<string, string>;
}

/** Tokens of three callers: one who may do all, another one, and one who may do nothing. */
export const TOKENS = { ACTS_TOKEN: "acts-token-of-the-runner", ACTS_OTHER_TOKEN: "acts-token-of-another", ACTS_LACKING_TOKEN: "acts-token-that-lacks" };

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** In the order in which a test looks for one that meets its preconditions. */
export const CONFIGURATIONS: Configuration[] = [
  { slug: "acts", says: "streams, sends webhooks, asks for no credentials", headers: {} },
  { slug: "acts-guarded", says: "the same with bearer tokens, a scope that callers need, and an extended card", headers: bearer(TOKENS.ACTS_TOKEN) },
  { slug: "acts-plain", says: "without streams, webhooks and extended card", headers: {} },
];
