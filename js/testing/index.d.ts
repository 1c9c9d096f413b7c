// The types of "a2a-edge/testing": agents and tools in a test, by the engine that is deployed, in simulated time. For node:test, vitest (pool "forks"
// or "threads") and others, in Node 22.13 or newer.
import type { Caller, Content, Duration, Executor, Json, Maybe, Message, Part, Tool } from "../index.d.ts";

/**
 * Makes an agent in memory with this executor, in a Worker of its own. The agent has the slug `test`.
 *
 * ```ts
 * test("a payment completes the order, also after a deploy", async () => {
 *   let notify = "";
 *   const agent = await testAgent(orders, {
 *     fetch: async (request) => {
 *       ({ notify } = await request.json<{ notify: string }>());
 *       return new Response();
 *     },
 *   });
 *   await agent.send("a chair");
 *   await agent.crash();
 *   await agent.post(notify, "49 EUR");
 *   assert.equal(agent.task().artifacts["result"]?.text, "49 EUR");
 * });
 * ```
 *
 * Time is simulated. It begins with the present, moves only while a method of the agent is at work, and nothing waits in reality. Meanwhile timers,
 * `Date`, `performance.now`, `AbortSignal.timeout` and `fetch` of the global object are those of the agent for its code, and for all other code what
 * they were before. Timers of `node:timers` are real.
 *
 * @throws {Error} If the settings, the caller or a name does not fit; with the lines of the checker of agent files, where it has found that.
 */
export declare function testAgent<S>(executor: Executor<S>, options?: TestOptions<S>): Promise<TestAgent>;

/**
 * Calls a tool in a Worker of its own, as an agent of kind `tools` does. An error that the tool throws and that is no `Failure` rejects the promise.
 *
 * @param args What the caller gives. It is checked by the schema of the tool, and gets its defaults.
 */
export declare function callTool(
  tool: Tool,
  args: { readonly [name: string]: unknown },
  options?: Omit<TestOptions, "settings">,
): Promise<ToolOutcome>;

/**
 * Carries out a scenario without a crash, and then once for each place where the process may end, with a crash there: before each write to the
 * storage of a task, before and behind the work of each step, and before and behind each request. After the crash, what the client has sent and was
 * not answered is sent again, and the run begins again as in production.
 *
 * @param make Makes the agent, the same one each time: with all that is around it, such as a shop without orders.
 * @param scenario What is done with the agent. Its assertions hold in each run.
 * @returns How many places there are, and at how many there was a crash.
 * @throws {Error} Names the place: if the scenario fails there; if a task ends otherwise than without a crash (its state, text and artifacts; ids, and
 *   the tokens of callbacks, are not compared); if a step is done again whose outcome was stored, or another step is done; if a request outside of
 *   steps is sent again that is no GET, HEAD or OPTIONS.
 */
export declare function survivesCrashes<A extends TestAgent>(
  make: () => Promise<A>,
  scenario: (agent: A) => unknown,
  options?: CrashOptions,
): Promise<{ readonly places: number; readonly crashes: number }>;

/** What is around the agent of a test. */
export interface TestOptions<S = any> {
  /** The table `[executor.<kind>]` of an agent file. It is checked as there. */
  settings?: { readonly [Key in keyof S]?: S[Key] };
  /** Secrets and variables, which runs read by `secret()`. */
  secrets?: { readonly [name: string]: string };
  /** Bindings and variables, such as a stand-in for a bucket; also variables of a2a-edge, such as `RUN_TIMEOUT_MS`. */
  env?: Partial<Cloudflare.Env> & { readonly [name: string]: unknown };
  /**
   * Who calls. Without it the agent is open, and its caller is `anonymous`. The `id` has the name of a scheme and of a caller, as `"key:billing"`; the
   * `owner` is the same, or a group such as `"@key:team-a"`.
   */
  caller?: Partial<Omit<Caller, "may">>;
  /**
   * Other agents by their names, each a function that answers a message. The client of the engine calls it, by A2A 1.0. Further messages of a task have
   * its `taskId`.
   */
  remotes?: { readonly [name: string]: RemoteFunction };
  /** MCP servers by their names, each with its tools. The client of the engine calls them. */
  mcp?: { readonly [server: string]: { readonly [tool: string]: McpFunction | TestMcpTool } };
  /**
   * Answers what the run fetches, and gets the notifications of webhooks. An error is one of the network. Without it, every request fails. Its timers
   * are simulated, what it fetches itself is real. Where it neither answers nor does anything for a moment, simulated time goes on.
   */
  fetch?: (request: Request) => Maybe<Response>;
}

/** A remote agent: gives its result, or where its task stands. What it throws fails its task. */
export type RemoteFunction = (message: Message) => Maybe<Content | RemoteState>;

/** Where a remote task stands. `text` is the question or the reason. */
export interface RemoteState {
  readonly state: "completed" | "failed" | "canceled" | "rejected" | "input-required" | "auth-required" | "working";
  readonly text?: string;
}

/** A tool of an MCP server: gives its result. What it throws is the error that the server tells. */
export type McpFunction = (args: any) => Maybe<Json | void>;

/** A tool of an MCP server, with what the server tells of it. */
export interface TestMcpTool {
  description?: string;
  /** JSON Schema of an object. */
  inputSchema?: { readonly [key: string]: unknown };
  /** Whether the server says that the tool only reads. */
  isReadOnly?: boolean;
  execute: McpFunction;
}

/**
 * The agent of a test. If a function of the agent throws an error that is no `Failure`, the task fails, and the method that is at work rejects with
 * this error.
 */
export interface TestAgent {
  /**
   * Sends a message, and lets the run go on until the task ends, asks, or waits for longer than a minute. The message continues the last task, unless
   * that has ended; then it begins another one in the same context.
   */
  send(message: Content, options?: SendOptions): Promise<TestTask>;
  /** Cancels the task, and lets its run end. */
  cancel(): Promise<TestTask>;
  /** Lets time pass, such as `"8 days"`, with all that is due meanwhile. */
  pass(time: Duration): Promise<TestTask>;
  /**
   * Ends the process: what the agent has in memory is lost, what is stored stays. The run begins again with the next message, post or alarm. Variables
   * of modules stay, other than in production.
   *
   * With the name of a step, the process ends later: when the work of a step of this name is done, and its outcome not yet stored, for the first time.
   */
  crash(beforeEndOf?: string): Promise<void>;
  /**
   * Posts a body to a callback, a text as text and everything else as JSON, and lets the run go on as `send` does. Gives false if the callback is
   * unknown, used or expired.
   */
  post(url: string, body: Json): Promise<boolean>;
  /** The last task, as it was at the end of the last method. Throws if there is none. */
  task(): TestTask;
  /** The requests that `fetch` of the options was asked, oldest first. Their bodies can be read. */
  readonly fetched: readonly Request[];
}

/** How a message is sent. */
export interface SendOptions {
  /** The metadata of the request. */
  metadata?: { readonly [key: string]: Json };
  /** The media types that the client takes. */
  acceptedOutputModes?: readonly string[];
  /** A URL that gets the events of the task. `fetch` of the options answers for it. */
  webhook?: string;
}

/** A task. */
export interface TestTask {
  readonly id: string;
  readonly contextId: string;
  /** `replied` if the agent has answered by a message in place of a task. */
  readonly state: TestState;
  /** The text of its status: a note of progress, the question or the reason; of a reply, its text. */
  readonly text: string;
  /** The parts of that text. */
  readonly parts: readonly Part[];
  /** By their ids: `result` is what the executor has returned. `text` is their texts, joined, with data as JSON. */
  readonly artifacts: { readonly [id: string]: { readonly text: string; readonly parts: readonly Part[]; readonly name?: string } };
  readonly history: readonly Message[];
  readonly metadata?: { readonly [key: string]: Json };
}

/** The state of a task, as A2A has it, in lower-case words; `replied` if there is none. */
export type TestState =
  | "submitted" | "working" | "completed" | "failed" | "canceled" | "rejected" | "input-required" | "auth-required" | "replied";

/** What has become of a call: its result, or who is at fault and what the caller reads. */
export type ToolOutcome = ToolResult | { readonly fault: "arguments" | "tool" | "upstream"; readonly text: string };

/** What a tool has given. */
export interface ToolResult {
  readonly parts: readonly Part[];
  /** Its text, or its data; several parts as they are. */
  readonly value: any;
  /** The notes of progress. */
  readonly progress: readonly string[];
}

/** How places are chosen and judged. */
export interface CrashOptions {
  /** How many places are tried at most, 200 unless given. Of more, evenly spread ones are, with the first and the last one. */
  limit?: number;
  /** Whether a request outside of steps may be sent again. */
  mayRepeat?: (request: { readonly method: string; readonly url: string }) => boolean;
}
