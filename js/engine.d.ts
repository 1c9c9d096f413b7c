// The types of "a2a-edge/engine", the module of WebAssembly with its JavaScript. Projects import "a2a-edge" instead.
import type { Agents, Handlers } from "./index.d.ts";

export { TaskObject } from "./index.d.ts";

/** Starts the Worker with its agents and its functions. Throws if the agents were checked by another version of a2a-edge. */
export function start(agents: Agents, functions?: Functions): Handlers;

/**
 * The functions of a project, as Rust calls them. Values pass as JSON. A run is a call of one function; by its number, the function reaches its
 * task through `bridge` as long as the run is open.
 */
export interface Functions {
  /**
   * `{"tools": [{"name", "description", "inputSchema", "needs"}], "executors": [{"kind", "recovery": "resume" | "restart" | "fail", "cancels": "never" |
   * "once" | "sure"}]}`. Called once, at the first request. Throws an error whose message says what the author has to change.
   */
  describe(): string;
  /** Checks the table `[executor.<kind>]` of an agent file. Returns a list of problems: `[{"path": "hall.rows", "problem": "must be a number"}]`. */
  checkSettings(kind: string, settings: string): string | undefined;
  /** Runs an executor for a turn. Returns its end: empty text, or the error that it has thrown. Never throws or rejects. */
  execute(kind: string, run: number, turn: string, settings: string): string | Promise<string>;
  /** Calls the cancel hook of an executor, like `execute`. */
  cancel(kind: string, run: number, turn: string, settings: string): string | Promise<string>;
  /** Calls a tool. Returns `{"parts": […]}`, or the error that it has thrown. Never throws or rejects. */
  callTool(name: string, run: number, args: string, call: string): string | Promise<string>;
  /** The end of a run. After "canceled" the function continues for up to five seconds, and another end follows. */
  over(run: number, why: "canceled" | "timeout" | "parked" | "over"): void;
}

/**
 * What a function may ask of its run. Functions that give no promise throw a text, promises reject with one: `~` and the reason of the end if the
 * run is over ("~canceled", "~timeout", "~parked", "~over"), else the reason of the refusal. A promise of a run that has ended stays pending.
 */
export interface Bridge {
  /** Emits a verb of docs/http-agents.md. An artifact needs an `id`. */
  say(run: number, verb: string): void;
  /** Sets the state "working", with a text or without. */
  progress(run: number, text?: string): void;
  /** Appends text to an artifact. */
  append(run: number, id: string, text: string, isLast: boolean): void;
  /** Begins a step: `{"new": 1}` with its number, `{"done": …}` with its stored result, `{"failed": "…"}` with its stored reason. */
  beginStep(run: number, name: string): string;
  /** Begins the step `write <id>`. If it is new, the artifact begins anew. */
  beginWrite(run: number, id: string): string;
  /** Stores the outcome of a step: JSON, or the reason of its failure. */
  endStep(run: number, name: string, nth: number, isDone: boolean, outcome: string): void;
  /** Begins a wait: `{"forMs"?, "untilMs"?, "orMessage"?, "callback"?: {"name", "nth"}}`. */
  wait(run: number, wait: string): "time" | "message" | "callback" | "parks";
  /** Makes a callback: `{"nth", "url", "expires"}`. 0 ms is the default of 30 days. */
  callback(run: number, name: string, uses: number, lifetimeMs: number): string;
  /** Takes the next body that was posted to a callback: a part. */
  takeCall(run: number, name: string, nth: number): string;
  /** Waits in memory for the next message of the client. */
  nextMessage(run: number): Promise<string>;
  /** The messages of the task, oldest first. */
  history(run: number): string;
  /** The task; empty if there is none yet. */
  task(run: number): string;
  /** The credentials that the client has sent with its answer: an object; empty if there are none. */
  credentials(run: number): Promise<string>;
  /** The value of a secret, which is replaced by its name in all that the run says from now on. */
  secret(run: number, name: string): string;
  /** Whether the client accepts a media type. */
  accepts(run: number, mediaType: string): boolean;
  /** The headers that a request to this URL gets. A guarded request goes only where webhooks may go. */
  fetchHeaders(run: number, url: string, isGuarded: boolean): string;
  /** Records the usage of a model: `{"model"?, "requests"?, "inputTokens"?, "outputTokens"?, "costMicros"?}`. */
  recordUsage(run: number, used: string): void;
  /**
   * Sends a message to another agent and follows its task: `{"outcome", "text", "task"?}`. The request is `{"parts", "key", "taskId"?,
   * "contextId"?, "metadata"?, "timeoutMs"?}`; `key` becomes the id of the message.
   */
  remoteSend(run: number, name: string, request: string): Promise<string>;
  /** Opens a stream of the events of a message; returns the number of the stream. */
  remoteStream(run: number, name: string, request: string): number;
  /** The next event of a stream, as on the wire; empty at its end. */
  remoteNext(run: number, stream: number): Promise<string>;
  /** Closes a stream. */
  remoteClose(run: number, stream: number): void;
  /** Cancels a task of another agent. */
  remoteCancel(run: number, name: string, taskId: string): Promise<string>;
  /** The card of another agent. */
  remoteCard(run: number, name: string): Promise<string>;
  /** The tools of an MCP server: `[{"name", "description"?, "inputSchema", "isReadOnly"}]`. */
  mcpTools(run: number, server: string): Promise<string>;
  /** Calls a tool of an MCP server: `{"parts", "structured"?}`. `key` names the call in the steps of the task. */
  mcpCall(run: number, server: string, tool: string, args: string, key: string): Promise<string>;
}

export const bridge: Bridge;
