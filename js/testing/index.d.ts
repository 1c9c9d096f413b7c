// The types of "a2a-edge/testing": agents and tools in a test, by the engine of the Worker, in simulated time. For node:test, vitest and others, in
// Node 22.13 or newer.
import type { Caller, Content, Duration, Executor, Json, Maybe, Message, Part, Tool } from "../index.d.ts";

export type { Content } from "../index.d.ts";

/**
 * Makes an agent in memory whose executor is given, in a Worker of its own. The agent has the slug `test`.
 *
 * ```ts
 * test("a chair is ordered, also if somebody pays after a deploy", async () => {
 *   let notify = "";
 *   const agent = await testAgent(orders, {
 *     fetch: async (request) => { ({ notify } = await request.json()); return new Response(); },
 *   });
 *   assert.equal((await agent.send("a chair")).state, "working");
 *   await agent.crash();
 *   await agent.post(notify, "49 EUR");
 *   assert.equal((await agent.task()).artifacts.result.text, "49 EUR");
 * });
 * ```
 *
 * Time is simulated: timers, dates, waits and alarms are due when a call below comes to them, and nothing waits in reality. It begins with the present.
 * While a call is under way, timers, `Date`, `performance.now`, `AbortSignal.timeout` and `fetch` of the global object are those of the agent for its
 * code, and those of the test for all other code. Timers of `node:timers` are real.
 *
 * @throws {Error} If the settings, the caller or the remote agents do not fit.
 */
export declare function testAgent<S>(executor: Executor<S>, options?: TestOptions<S>): Promise<TestAgent>;

/**
 * Calls a tool in a Worker of its own, as an agent of kind `tools` does. An error of the tool that is no `Failure` rejects the promise.
 *
 * @param args What the caller gives: they are checked by the schema of the tool, and get its defaults.
 */
export declare function callTool(tool: Tool, args: { readonly [name: string]: unknown }, options?: Omit<TestOptions, "settings">): Promise<ToolOutcome>;

/**
 * Carries out a scenario without a crash, and then once for each place where the process may end, with a crash there: before each write to the storage
 * of a task, before and behind the work of each step, and before and behind each request. After a crash, what was under way is sent again, and
 * the run begins again as in production.
 *
 * @param make Makes the agent, the same one each time: with what it needs around it, such as an empty list of what a shop was asked for.
 * @param scenario What is done with the agent. Assertions in it hold in each run.
 * @returns How many places there are, and at how many of them there was a crash.
 * @throws {Error} Names the place if the scenario fails there; if the tasks end otherwise than without a crash (state, text and artifacts; ids, and tokens of
 *   callbacks, are not compared); if a step is done again whose outcome was stored, or another step is done; or if a request outside of steps is
 *   sent again that is no GET, HEAD or OPTIONS.
 */
export declare function survivesCrashes<A extends TestAgent>(
  make: () => Promise<A>, scenario: (agent: A) => unknown, options?: CrashOptions,
): Promise<{ readonly places: number; readonly crashes: number }>;

/** Around the agent of a test. */
export interface TestOptions<S = any> {
  /** The table `[executor.<kind>]` of an agent file. It is checked as in an agent file. */
  settings?: { readonly [Key in keyof S]?: S[Key] };
  /** Secrets and variables that runs read by `secret()`. */
  secrets?: { readonly [name: string]: string };
  /** Bindings and variables of the Worker, such as a stand-in for a bucket; also variables of a2a-edge, such as `RUN_TIMEOUT_MS`. */
  env?: Partial<Cloudflare.Env> & { readonly [name: string]: unknown };
  /**
   * Who calls. Without it the agent is open, and its caller is `anonymous`. The `id` is the name of a scheme and of a caller, as `"key:billing"`; `owner`
   * the same, or a group such as `"@key:team-a"`.
   */
  caller?: Partial<Omit<Caller, "may">>;
  /**
   * Other agents by their names. Each is a function that answers a message; it is called by the client of the engine, over A2A 1.0. Messages of one task have
   * its `taskId`.
   */
  remotes?: { readonly [name: string]: RemoteFunction };
  /** MCP servers by their names, each with its tools. A tool is a function, or an object with one; the client of the engine calls it. */
  mcp?: { readonly [server: string]: { readonly [tool: string]: McpFunction | TestMcpTool } };
  /**
   * Answers what the run fetches, and gets the notifications of webhooks. An error is one of the network. Without it, every request fails. Its timers
   * are simulated; what it fetches itself is not. If it neither answers nor does anything for a moment, simulated time goes on.
   */
  fetch?: (request: Request) => Maybe<Response>;
}

/** A remote agent: gives its result, or how its task goes on. What it throws fails its task. */
export type RemoteFunction = (message: Message) => Maybe<Content | RemoteState>;

/** A tool of an MCP server: gives its result. What it throws is the error that the server tells. */
export type McpFunction = (args: any) => Maybe<Json | void>;

/** A tool of an MCP server. */
export interface TestMcpTool {
  description?: string;
  /** JSON Schema of an object. */
  inputSchema?: { readonly [key: string]: unknown };
  /** Whether the server says that the tool only reads. */
  isReadOnly?: boolean;
  execute: McpFunction;
}

/** Where a remote task stands. `text` is the question or the reason. */
export interface RemoteState {
  readonly state: "completed" | "failed" | "canceled" | "rejected" | "input-required" | "auth-required" | "working";
  readonly text?: string;
}

/**
 * The agent of a test. Each method that gives a task rejects with the error that a function of the agent has thrown meanwhile, if that is no `Failure`; the task has
 * failed then.
 */
export interface TestAgent {
  /**
   * Sends a message, and lets the run go on until the task ends, asks, or waits for longer than a minute. A message continues the last task, unless that has
   * ended; then it begins another one in the same context.
   */
  send(message: Content, options?: SendOptions): Promise<TestTask>;
  /** Cancels the task, and lets its run end. */
  cancel(): Promise<TestTask>;
  /** Lets time pass, such as `"8 days"`, with all that is due meanwhile. */
  pass(time: Duration): Promise<TestTask>;
  /**
   * Ends the process: all that the agent has in memory is lost, what is stored stays. The run begins again with the next message, post or alarm, or when its task is
   * asked for. With the name of a step, the process ends when its work is done and its outcome not yet stored, the next time that a step of
   * this name ends. What the code of the agent has in variables of its modules stays, other than in production.
   */
  crash(beforeEndOf?: string): Promise<void>;
  /**
   * Posts a body to a callback, text as text and everything else as JSON, and lets the run go on as `send` does. Gives false if the callback is unknown, used or
   * expired.
   */
  post(url: string, body: Json): Promise<boolean>;
  /** The last task as it stands. */
  task(): Promise<TestTask>;
  /** The requests that `fetch` of the options was asked, oldest first. Their bodies can be read. */
  readonly fetched: readonly Request[];
}

/** How a message is sent. */
export interface SendOptions {
  metadata?: { readonly [key: string]: Json };
  /** The media types that the client takes, which `turn.accepts` tells. */
  acceptedOutputModes?: readonly string[];
  /** A URL that gets the events of the task; `fetch` of the options answers for it. Needs a `caller`. */
  webhook?: string;
}

/** A task. */
export interface TestTask {
  readonly id: string;
  readonly contextId: string;
  /** `replied` if the agent has answered by a message in place of a task. */
  readonly state:
    | "submitted" | "working" | "completed" | "failed" | "input-required" | "auth-required" | "canceled" | "rejected" | "replied";
  /** The text of its status: a note of progress, the question or the reason. Or the text of the message. */
  readonly text: string;
  /** The parts of that text. */
  readonly parts: readonly Part[];
  /** By their ids: `result` is what the executor has returned. `text` is their texts, joined, with data as JSON. */
  readonly artifacts: { readonly [id: string]: { readonly text: string; readonly parts: readonly Part[]; readonly name?: string } };
  readonly history: readonly Message[];
  readonly metadata?: { readonly [key: string]: Json };
}

/** What a tool has given. */
export type ToolOutcome =
  | { readonly parts: readonly Part[]; /** The text, or the data; several parts as they are. */ readonly value: any; readonly progress: readonly string[] }
  | { readonly fault: "arguments" | "tool" | "upstream"; readonly text: string };

/** How places are chosen and judged. */
export interface CrashOptions {
  /** How many places are tried at most, 200 unless given. If there are more, they are evenly spread, with the first and the last one. */
  limit?: number;
  /** Whether a request outside of steps may be sent again. */
  mayRepeat?: (request: { readonly method: string; readonly url: string }) => boolean;
}
