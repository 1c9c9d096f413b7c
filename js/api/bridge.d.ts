// The border between the engine and the authors' interface: what Rust calls (`Functions`), and what a run may ask (`Bridge`). Everything is
// text (JSON), numbers and promises. A run has a number, which Rust gives and never uses again in an isolate.

/** What the engine calls of the tools and executors that are written in JavaScript. */
export interface Functions {
  /**
   * The tools and kinds, as JSON: `{"tools": [{"name", "description", "inputSchema", "needs"}], "executors": [{"kind", "recovery": "resume" |
   * "restart" | "fail", "cancels": "never" | "once" | "sure"}]}`.
   */
  describe(): string;
  /**
   * Checks the table `[executor.<kind>]` of an agent file, given as JSON. `undefined` if it fits, else JSON:
   * `[{"path": "hall.rows", "problem": "…"}]`.
   */
  checkSettings(kind: string, settings: string): string | undefined;
  /**
   * Runs an executor. The end is `""` if the run has ended by what it has said, or is over, else the JSON of `Thrown`; a promise of it unless the
   * run has ended already. Never throws and never rejects, as the two below.
   */
  execute(kind: string, run: number, turn: string, settings: string): string | Promise<string>;
  /** Calls `onCancel` of an executor. The end is that of `execute`. */
  cancel(kind: string, run: number, turn: string, settings: string): string | Promise<string>;
  /** Calls a tool. The end is `{"parts": [Part…]}` with one part or more, or the JSON of `Thrown`. */
  callTool(name: string, run: number, args: string, call: string): string | Promise<string>;
  /**
   * Says that a run is over. After `canceled` its function goes on for some seconds, and the run is then told one of the others; after one of
   * those it is forgotten. After `parked` no promise of the run settles.
   */
  over(run: number, why: string): void;
}

/** How a function failed. With `isFailure`, callers read `failed`; otherwise it is for the log alone. */
export interface Thrown {
  failed: string;
  fault?: "arguments" | "tool" | "upstream";
  isFailure: boolean;
  stack?: string | undefined;
}

/**
 * What a run may ask of its task. Synchronous unless a promise stands there. The functions throw, and the promises reject with, a text: `~canceled`,
 * `~timeout`, `~parked` or `~over` if the run is over, otherwise the reason of a refusal.
 */
export interface Bridge {
  /** Says a verb of docs/http-agents.md, as JSON. Only executors. */
  say(run: number, verb: string): void;
  /** A note of progress. */
  progress(run: number, text?: string): void;
  /** Appends to an artifact. */
  append(run: number, id: string, text: string, isLast: boolean): void;
  /** `{"new": nth}`, `{"done": value}` or `{"failed": reason}`. */
  beginStep(run: number, name: string): string;
  /** The same for the step `write <id>`. If it is new, the artifact begins anew. */
  beginWrite(run: number, id: string): string;
  /** `outcome` is JSON, or the reason of the failure. */
  endStep(run: number, name: string, nth: number, isDone: boolean, outcome: string): void;
  /** Takes `{"forMs"?, "untilMs"?, "orMessage"?, "callback"?: {"name", "nth"}}`; gives `time`, `message`, `callback` or `parks`. */
  wait(run: number, wait: string): string;
  /** `{"nth", "url", "expires"}`. A lifetime of 0 is the default, 30 days. */
  callback(run: number, name: string, uses: number, lifetimeMs: number): string;
  /** The next body that was posted to the callback: a part. */
  takeCall(run: number, name: string, nth: number): string;
  /** A message. */
  nextMessage(run: number): Promise<string>;
  /** A list of messages. */
  history(run: number): string;
  /** The task, or an empty text. */
  task(run: number): string;
  /** An object of texts, or an empty text. */
  credentials(run: number): Promise<string>;
  /** The value; throws if it is not set. */
  secret(run: number, name: string): string;
  accepts(run: number, mediaType: string): boolean;
  /** An object of headers to add to a request. Throws if a guarded request must not go to this URL. */
  fetchHeaders(run: number, url: string, isGuarded: boolean): string;
  /** Takes `{"requests", "inputTokens", "outputTokens", "costMicros"}`. */
  recordUsage(run: number, usage: string): void;
  /** Takes `{"message": {"parts", "taskId"?}, "key", "timeoutMs"?}`, gives `{"outcome", "text", "task"?}`. The key makes the id of the message. */
  remoteSend(run: number, name: string, request: string): Promise<string>;
  /** Takes the same; gives the number of a stream. */
  remoteStream(run: number, name: string, request: string): Promise<number>;
  /** The next event, or an empty text at the end. */
  remoteNext(run: number, stream: number): Promise<string>;
  remoteClose(run: number, stream: number): void;
  remoteCancel(run: number, name: string, taskId: string): Promise<void>;
  remoteCard(run: number, name: string): Promise<string>;
  /** `[{"name", "description", "inputSchema", "isReadOnly"}]`. */
  mcpTools(run: number, server: string): Promise<string>;
  /** `{"parts", "structured"?}`. */
  mcpCall(run: number, server: string, tool: string, args: string): Promise<string>;
}
