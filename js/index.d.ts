// The types of "a2a-edge": the entry of a Worker, its tools and its executors. Bindings, secrets and variables get their types by
// `wrangler types`, the names of remote agents and MCP servers by `.a2a-edge/agents.d.ts`, which `a2a-edge build` writes.
import type { DurableObject } from "cloudflare:workers";

declare global {
  namespace Cloudflare {
    interface Env {}
  }
}

// ---- The Worker ---------------------------------------------------------------------------------------------------------------

/**
 * Makes the event handlers of a Worker: the default export of its entry module, which also exports {@link TaskObject}.
 *
 * ```ts
 * import agents from "#agents";
 * import { TaskObject, worker } from "a2a-edge";
 * import { find_place } from "./find-place.ts";
 *
 * export { TaskObject };
 * export default worker({ agents, tools: { find_place } });
 * ```
 *
 * Throws at the start of the Worker if a tool or an executor cannot be registered, or if the agents were checked by another
 * version of a2a-edge. The error names the tool or the kind, and says what to do.
 */
export function worker(parts: Parts): Handlers;

/** What a Worker is made of. */
export interface Parts {
  /** The agents of the project: `import agents from "#agents"`, which `a2a-edge build` writes. */
  agents: Agents;
  /**
   * Tools by the names that agent files use: lower-case words joined by `_`, with at most 64 characters. A tool of the AI SDK
   * fits as it is.
   */
  tools?: Readonly<Record<string, Tool | ForeignTool>>;
  /**
   * Executors by their kinds: 1 to 64 lower-case letters, digits, `-` and `_`. An agent file names one as `kind` in `[executor]`.
   */
  executors?: Readonly<Record<string, Executor<any>>>;
  /**
   * Is asked first about each HTTP request of the Worker. A response answers the request; `undefined` passes the request on to
   * the agents, with its body unread (read `request.clone()`).
   */
  fetch?(request: Request, env: Env, ctx: ExecutionContext): Maybe<Response | undefined>;
  /** Gets the messages of queues that are not those of a2a-edge, for which the Worker is a consumer. */
  queue?(batch: MessageBatch, env: Env, ctx: ExecutionContext): Maybe<void>;
}

/** The event handlers of a Worker. They fit `ExportedHandler` of `wrangler types`. */
export interface Handlers {
  fetch(request: Request, env: object, context: object): Promise<Response>;
  queue(batch: object, env: object, context: object): Promise<void>;
  scheduled(event: object, env: object, context: object): Promise<void>;
}

/** The class of the Durable Objects that hold the tasks, one each. The entry module exports it. */
export declare class TaskObject extends DurableObject<Cloudflare.Env> {}

/** The agents of the project in the checked form: the default export of `#agents`, which `a2a-edge build` writes. */
export interface Agents {
  /** The version of a2a-edge that checked the files. A Worker of another version does not start with them. */
  readonly version: string;
  readonly index: string;
  readonly agents: Readonly<Record<string, string>>;
}

/** The bindings, secrets and variables of the project, without those of a2a-edge. `wrangler types` fills `Cloudflare.Env`. */
export type Env = Omit<Cloudflare.Env, OwnName>;

/** Names that `.a2a-edge/agents.d.ts` fills in, so that a wrong one does not compile: `remotes`, `mcp` and `secrets`. */
export interface Known {}

/** The known names of a kind; any text where none are known. */
export type NameOf<Kind extends string> = Known extends Readonly<Record<Kind, infer Name extends string>> ? Name : string;

// ---- Values -------------------------------------------------------------------------------------------------------------------

/** A value, or a promise of it. */
export type Maybe<T> = T | Promise<T>;

/** Any JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/**
 * What JSON can hold of a type: interfaces fit; functions, `Date`, `Map` and other classes with methods do not. Members that are
 * `unknown` are checked at run time: a value that is not JSON is an error that names its path.
 */
export type Jsonable<T> = Json | ({ [Key in keyof T]: JsonableMember<T[Key]> } & { readonly [Symbol.hasInstance]?: never });

type JsonableMember<T> = unknown extends T ? unknown : [T] extends [Json | undefined] ? T : Jsonable<T> | undefined;

/** Metadata, as A2A has them. */
export type Meta = { readonly [key: string]: Json };

/** Milliseconds, or a text such as `"30 seconds"`, `"5 minutes"`, `"7 days"`. */
export type Duration = number | `${number} ${"ms" | "second" | "minute" | "hour" | "day" | "week"}${"" | "s"}`;

/** A part of a message or of an artifact, as A2A 1.0 has it. `raw` is bytes, or base64 as on the wire. */
export type Part = ({ text: string } | { data: Json } | { raw: string | Uint8Array | ArrayBuffer } | { url: string }) & {
  mediaType?: string;
  filename?: string;
  metadata?: Meta;
};

/** What is said: a text, a part or several. */
export type Content = string | Part | readonly Part[];

/** A message of A2A 1.0. */
export interface Message {
  readonly messageId: string;
  readonly role: "ROLE_USER" | "ROLE_AGENT";
  readonly parts: readonly Part[];
  readonly contextId?: string;
  readonly taskId?: string;
  readonly metadata?: Meta;
}

/** Who has called, as `[access]` of the agent file has found out. */
export interface Caller {
  /** `anonymous` for an agent without access rules. */
  readonly id: string;
  /** Whose the task is: the caller, or the group with which the caller shares its tasks. */
  readonly owner: string;
  readonly permissions: readonly string[];
  readonly session?: string;
  /** Whether the caller has a permission. */
  may(permission: string): boolean;
}

/** What becomes a result: nothing, a text, a part or several, any JSON, or a stream of texts and parts. */
export type Result<R = Json> =
  | void | undefined | (Part & NoBody) | readonly Part[]
  | AsyncIterable<string | Part> | ReadableStream<string | Uint8Array>
  | Jsonable<R>;

/** A `Response` has the `url` of a part, but is none. */
interface NoBody {
  readonly bodyUsed?: never;
}

declare const ended: unique symbol;

/** How a run was ended by a method of its turn. Executors return it: `return turn.ask("For how many?")`. */
export interface Ended {
  readonly [ended]: true;
}

// ---- What tools and executors have --------------------------------------------------------------------------------------------

/**
 * One run of a tool or an executor. The methods need no `this`.
 *
 * When the run is over (`signal`), synchronous methods throw {@link RunOver} and pending promises are rejected with it, except
 * after a wait outside of memory: the run then begins again at the top of its function, and its pending promises never settle.
 */
export interface Run {
  /**
   * The bindings, secrets and variables of the project. Texts of secrets that are read here are not kept out of what the run
   * says: use `secret`.
   */
  readonly env: Env;
  readonly caller: Caller;
  readonly taskId: string;
  /**
   * Is aborted, with a {@link RunOver} as its reason, when the task is canceled, its time is up, the run waits outside of memory,
   * or has ended.
   */
  readonly signal: AbortSignal;
  /** For a header `Idempotency-Key`: the same in each attempt at this turn or call, and in no other. */
  readonly idempotencyKey: string;
  /** The messages of the task so far, oldest first. */
  history(): readonly Message[];
  /** Shows that the run is at work; with a text, a note of progress. */
  working(text?: string): void;
  /**
   * Does work once: its outcome is stored, and a run that begins again after a crash, a deploy or a wait gets the stored one. A
   * step that was interrupted is done again; what is outside of steps is done again, too.
   *
   * A step is known by its name (1 to 240 bytes), and among steps of one name by its number in the run. The result is JSON of at
   * most `MAX_STEP_BYTES` (256 KiB), and what the step gives is read from it, also the first time. An error is stored, too; it is
   * thrown again as a `Failure` if it was one, else as an `Error`.
   */
  step<T extends Jsonable<T>>(name: string, work: (attempt: StepAttempt) => Maybe<T>, options?: StepOptions): Promise<T>;
  step(name: string, work: (attempt: StepAttempt) => Maybe<void>, options?: StepOptions): Promise<void>;
  /**
   * As the platform's `fetch`, with the signal and the trace of the run. With `guarded`, a request goes only where webhooks may
   * go, and redirects are not followed; `timeout` is for the time until the answer begins.
   */
  fetch(input: string | URL | Request, init?: FetchOptions): Promise<Response>;
  /**
   * A secret or a variable of the project. Its text is kept out of all that the run says, if it has 8 bytes or more. Throws if it
   * is not set.
   */
  secret(name: NameOf<"secrets">): string;
  /** Waits in memory, for 30 seconds at most. */
  sleep(time: Duration): Promise<void>;
  /** Another agent: one of remotes.toml, or of this Worker by its slug. */
  remote(name: NameOf<"remotes">): Remote;
  /** An MCP server of remotes.toml. */
  mcp(name: NameOf<"mcp">): McpServer;
  /**
   * Adds to the usage of models that counts for the caller. Call it in the step that made the request, so that it counts once.
   */
  recordUsage(used: Usage): void;
}

/** One attempt at a step. */
export interface StepAttempt {
  /** From 1. The count begins again if the run is interrupted. */
  readonly attempt: number;
  /** The same in each attempt at this step, and of no other. */
  readonly idempotencyKey: string;
  /** Is aborted when the run is over, or the attempt has taken longer than `timeout`. */
  readonly signal: AbortSignal;
}

/** How a step is tried again. */
export interface StepOptions {
  /**
   * How often the work is tried at most (1), in memory. Between two attempts there is `delay` (1 second), which doubles up to
   * `maxDelay` (30 seconds), or `retryAfter` of a `Failure` if that is longer. A `Failure` with the fault `arguments` is not
   * tried again.
   */
  retry?: number | { attempts: number; delay?: Duration; maxDelay?: Duration };
  /** How long one attempt may take. Without it, as long as the run. */
  timeout?: Duration;
}

/** Options of `fetch` of a run. */
export interface FetchOptions extends RequestInit {
  guarded?: boolean;
  timeout?: Duration;
}

/** Use of a model. */
export interface Usage {
  /** The name of the model, by which sums are told apart: up to 100 characters. */
  model?: string;
  /** 1 unless given. */
  requests?: number;
  inputTokens?: number;
  outputTokens?: number;
  /** In millionths of the currency in which the project counts (`USAGE_CURRENCY`). */
  costMicros?: number;
}

/** Another agent. */
export interface Remote {
  /**
   * Sends a message and follows its task until it ends or asks: a step named `ask <name>`. Without `timeout`, as long as the run
   * may take.
   */
  send(message: Content, options?: { taskId?: string; timeout?: Duration }): Promise<Answer>;
  /** Sends a message and gives what comes of it, event by event. Not a step; another attempt sends a message with the same id. */
  stream(message: Content, options?: { taskId?: string }): AsyncIterable<RemoteEvent>;
  cancel(taskId: string): Promise<void>;
  /** The card of the agent. */
  card(): Promise<Json>;
}

/** What came of a message to another agent. */
export interface Answer {
  readonly outcome: "completed" | "input-required" | "auth-required" | "failed" | "canceled" | "timeout";
  /** The result, the question or the reason. */
  readonly text: string;
  /** The task, if there is one, as A2A 1.0 has it. */
  readonly task?: Json;
}

/** An event of another agent, as A2A 1.0 has it. States are such as `TASK_STATE_WORKING`. */
export type RemoteEvent =
  | { readonly task: { readonly id: string; readonly status: RemoteStatus; readonly artifacts?: readonly RemoteArtifact[] } }
  | { readonly statusUpdate: { readonly taskId: string; readonly status: RemoteStatus } }
  | { readonly artifactUpdate: RemoteArtifactUpdate }
  | { readonly message: Message };

/** The status of a task of another agent. */
export interface RemoteStatus {
  readonly state: string;
  readonly message?: Message;
  readonly timestamp?: string;
}

/** An artifact of another agent that is new, or grows if `append` is true. */
export interface RemoteArtifactUpdate {
  readonly taskId: string;
  readonly artifact: RemoteArtifact;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
}

/** An artifact of another agent, or a piece of it. */
export interface RemoteArtifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly Part[];
  readonly metadata?: Meta;
}

/** An MCP server. */
export interface McpServer {
  tools(): Promise<readonly McpTool[]>;
  /**
   * Calls a tool: a step named `call <server> <tool>`, unless the server says that the tool only reads. Rejects if the server
   * refuses the call or does not answer; callers do not read why, unless you throw it as a `Failure`.
   */
  call(tool: string, args?: { readonly [name: string]: Json }): Promise<McpResult>;
}

/** What a tool of an MCP server gives. */
export interface McpResult {
  readonly parts: readonly Part[];
  /** The result as JSON, if the tool has a schema of it. */
  readonly structured?: Json;
}

/** A tool of an MCP server. */
export interface McpTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: Json;
}

// ---- Tools --------------------------------------------------------------------------------------------------------------------

/**
 * A tool that agents name in `[executor.tools]` or `[executor.model]`. Its schema is shown in cards, to models and to clients of
 * MCP.
 *
 * ```ts
 * const add_tax = tool({
 *   description: "Adds the tax to a price.",
 *   inputSchema: z.object({ price: z.number().describe("In euros."), percent: z.number().default(20) }),
 *   execute: ({ price, percent }) => price * (1 + percent / 100),
 * });
 * ```
 *
 */
export function tool<S extends Schema, R extends Result<R>>(definition: {
  /** One or two sentences, for models and people. */
  description: string;
  /**
   * Standard Schema with JSON Schema (zod 4.2, arktype 2.1.28, valibot by `toStandardJsonSchema`, or later), a schema of the AI
   * SDK, or JSON Schema. It is an object. Arguments are checked by its JSON Schema first, then by the library, which gives
   * defaults and transforms.
   */
  inputSchema: S;
  /**
   * Names of secrets and variables that the tool needs: `a2a-edge check` asks for them, and their texts are kept out of results.
   */
  needs?: readonly string[];
  /**
   * Gives the result, or throws: a {@link Failure} with the reason that the caller reads, or any other error, which only the log
   * has. A stream is read to its end, and its pieces are the result.
   */
  execute(args: Arguments<S>, call: Call): Maybe<R>;
}): Tool<S, Awaited<R>>;

/** What `tool` gives. Its `execute` can be called in tests. */
export interface Tool<S extends Schema = any, R = any> {
  readonly description: string;
  readonly inputSchema: S;
  readonly needs?: readonly string[];
  execute(args: Arguments<S>, call: Call): Maybe<R>;
}

/**
 * A tool of the AI SDK (`tool` of `ai`), which fits as it is: with a text as its description, and `execute`. Of a stream of
 * results the last one is the result. `needsApproval` is refused; other members are not used.
 */
export interface ForeignTool {
  description?: unknown;
  inputSchema: unknown;
  execute?: ((args: any, options: any) => unknown) | undefined;
  needsApproval?: unknown;
}

/** What a tool gets beside its arguments. Also has the options that tools of the AI SDK get. */
export interface Call extends Run {
  /** The same as `idempotencyKey` unless a model has made the call: then the model's id of it. */
  readonly toolCallId: string;
  /** The same as `signal`. */
  readonly abortSignal: AbortSignal;
  /** Always empty: tools do not read the conversation of a model. */
  readonly messages: never[];
  /** Always empty. */
  readonly context: any;
}

/** A schema of arguments, see {@link tool}. */
export type Schema<T = any> = (StandardSchema<any, T> & StandardJsonSchema) | AiSchema<T> | JsonSchema;

/** The arguments that a schema gives. */
export type Arguments<S> =
  S extends StandardSchema<any, infer Output> ? Output
  : S extends AiSchema<infer Output> ? Output
  : Record<string, any>;

/** The part of Standard Schema (https://standardschema.dev) that is used. */
export interface StandardSchema<Input = any, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema that becomes JSON Schema (https://standardschema.dev/json-schema). */
export interface StandardJsonSchema {
  readonly "~standard": {
    readonly jsonSchema: { readonly input: (options: { target: "draft-2020-12" }) => Record<string, unknown> };
  };
}

/** A schema of the AI SDK: of `jsonSchema()` and `zodSchema()`. */
export interface AiSchema<T = any> {
  readonly _type: T;
  readonly jsonSchema: unknown;
  readonly validate?: (value: any) => unknown;
}

/** JSON Schema of an object, draft 2020-12. Keywords that a2a-edge does not check are refused. */
export interface JsonSchema {
  readonly type: "object";
  readonly properties?: { readonly [name: string]: unknown };
  readonly [keyword: string]: unknown;
  readonly "~standard"?: never;
}

// ---- Executors ----------------------------------------------------------------------------------------------------------------

/**
 * An executor: what an agent does with a message.
 *
 * ```ts
 * const tables = executor({
 *   execute(turn) {
 *     const guests = Number.parseInt(turn.text, 10);
 *     return Number.isNaN(guests) ? turn.ask("For how many?") : `a table for ${guests}`;
 *   },
 * });
 * ```
 */
export function executor<S = {}, R extends Result<R> | Ended = any>(definition: {
  /**
   * The schema of the table `[executor.<kind>]` of agent files, which is checked when agents are. Not asynchronous. Without it,
   * the table is empty.
   */
  settings?: StandardSchema<any, S>;
  /**
   * What becomes of a run that was interrupted: `resume` (unless given) begins it again, with the outcomes of finished steps;
   * `restart` begins it again without them, and without what it had said; `fail` fails the task. Executors that wait outside of
   * memory resume.
   */
  recovery?: "resume" | "restart" | "fail";
  /**
   * Handles one message. What it returns becomes an artifact and completes the task; nothing completes it without one. What it
   * throws fails the task: a {@link Failure} with the reason that the caller reads, any other error with a sentence of a2a-edge,
   * and its text is in the log.
   */
  execute(turn: Turn<S>): Maybe<R>;
  /**
   * Ends what the run has begun elsewhere, when its task is canceled; also of a run that waits outside of memory. It has five
   * seconds, and can say nothing; `step` gives the result of the newest finished step of its name, in any turn of the task, and
   * does not do its work. With `sure`, it is called again if the process dies meanwhile.
   */
  onCancel?: ((turn: Turn<S>) => Maybe<void>) | { sure: true; run(turn: Turn<S>): Maybe<void> };
}): Executor<S>;

/** What `executor` gives. */
export interface Executor<S = {}> {
  readonly settings?: StandardSchema<any, S>;
  readonly recovery?: "resume" | "restart" | "fail";
  execute(turn: Turn<S>): Maybe<any>;
  readonly onCancel?: ((turn: Turn<S>) => Maybe<void>) | { sure: true; run(turn: Turn<S>): Maybe<void> };
}

/** One message of a task, and what an executor may do about it. */
export interface Turn<S = {}> extends Run {
  /** The slug of the agent. */
  readonly agent: string;
  /** The table `[executor.<kind>]` of the agent file, with the defaults and transforms of its schema. */
  readonly settings: S;
  readonly contextId: string;
  readonly message: Message;
  /** The parts of text of the message, joined. */
  readonly text: string;
  /** The first part of data of the message. */
  readonly data: Json | undefined;
  /** The metadata of the request. */
  readonly metadata: Meta | undefined;
  /** Which of the client's messages in the task it is, from 1. */
  readonly number: number;
  /** Which attempt at this message it is, from 1. The count begins again after each wait outside of memory. */
  readonly attempt: number;
  /** Whether an earlier attempt was interrupted, or has waited. */
  readonly resumes: boolean;
  /** How long the run may still be in memory, in milliseconds. Waits outside of memory do not count. */
  timeLeft(): number;
  /** Whether the client takes results of this media type. */
  accepts(mediaType: string): boolean;
  /** The task as it stands, as A2A 1.0 has it; `undefined` before the run has said anything. */
  task(): Json | undefined;
  /** What the client has answered to `askAuth`: once, in the turn after it. */
  credentials(): Promise<Readonly<Record<string, string>> | undefined>;

  /**
   * Adds an artifact. Without an id it is `result`, the next one `result-2`, the same in each attempt; an artifact of the same id
   * is replaced.
   */
  artifact(content: Content, options?: ArtifactOptions): void;
  /**
   * Streams into an artifact and gives the whole text. A step named `write <id>`: an artifact that is whole is not written again,
   * and the text is read from it; one that was interrupted begins anew. Pieces that come faster than
   * `EVENT_INTERVAL_MS` are stored and shown together.
   */
  write(source: WriteSource, options?: ArtifactOptions): Promise<string>;

  /** Ends with a question. The client's answer is the next turn. Return it: `return turn.ask("For how many?")`. */
  ask(question: Content): Ended;
  /** Ends with a request for credentials, which come with the next turn (`credentials`). */
  askAuth(text: string): Ended;
  /** Ends: the agent declines the message, for this reason. */
  reject(reason: string): Ended;
  /** Ends with a message instead of a task; where there is a task already, as its last word. Steps make a task. */
  reply(content: Content): Ended;

  /**
   * Waits outside of memory, for ten years at most, and costs nothing meanwhile: the run is dropped, with all that is under way
   * (no `finally` runs), and begins again at the top of its function when the wait ends. A step that is under way is an error:
   * await it first. With `orMessage`, a message of the client ends the wait, too.
   */
  wait(time: Duration | Date): Promise<"time">;
  wait(wait: { for: Duration; orMessage: true } | { until: Date; orMessage: true }): Promise<"time" | "message">;
  /**
   * A URL to which another system posts, once unless `uses` is given (1,000 at most), for 30 days unless `within` is. Whoever has
   * the URL may post. The same in each attempt.
   */
  callback(name: string, terms?: { uses?: number; within?: Duration }): Callback;
  /** The next message that the client sends while the run is in memory, or has sent during a wait with `orMessage`. */
  nextMessage(): Promise<Message>;
}

/** Further members of an artifact. */
export interface ArtifactOptions {
  id?: string;
  name?: string;
  description?: string;
  metadata?: Meta;
}

/** What `write` takes: a stream of texts and parts, a body, or a function that gets `write`. */
export type WriteSource =
  | AsyncIterable<string | Part | Uint8Array>
  | ReadableStream<string | Uint8Array>
  | ((out: { write(piece: string | Part): void }) => Maybe<void>);

/** A URL to which another system posts. */
export interface Callback {
  readonly url: string;
  /** Waits outside of memory for a post, as `turn.wait` does for a time. */
  wait(time: Duration): Promise<Called>;
  wait(wait: { for: Duration; orMessage: true }): Promise<Called | { readonly by: "message" }>;
}

/** How a wait for a callback has ended. The body is JSON as `data`, other text as `text`, anything else as `raw`, in base64. */
export type Called = { readonly by: "call"; readonly body: Part } | { readonly by: "time" };

// ---- Errors -------------------------------------------------------------------------------------------------------------------

/** An error whose text callers read. Of any other error callers read that the agent failed, and its text is in the log. */
export class Failure extends Error {
  constructor(text: string, options?: { fault?: "arguments" | "tool" | "upstream"; cause?: unknown; retryAfter?: Duration });
  /** Who is at fault: the caller by its arguments, which are not tried again; the tool (unless given); or a server elsewhere. */
  readonly fault: "arguments" | "tool" | "upstream";
  /** How long to wait at least before a step is tried again. */
  readonly retryAfter: Duration | undefined;
}

/** What the methods of a run throw when it is over, and the reason of its signal. */
export class RunOver extends Error {
  constructor(why: "canceled" | "timeout" | "parked" | "over");
  /** `parked`: it waits outside of memory. `over`: its function has returned, or the task has ended. */
  readonly why: "canceled" | "timeout" | "parked" | "over";
}

/** The names of `Cloudflare.Env` that belong to a2a-edge. */
export type OwnName =
  | "TASKS" | "DB" | "WEBHOOKS" | "DEAD_LETTERS" | "DELETIONS" | "ASSETS" | "ANALYTICS"
  | "PUBLIC_URL" | "ORIGINS" | "DEFAULT_AGENT" | "AGENTS" | "DEVELOPMENT" | "DEV_TOKEN" | "AUDIT" | "METRICS" | "OTLP_URL" | "TRACE_RATIO" | "OTEL_SERVICE_NAME"
  | "STRICT_VERSION" | "CARD_DIALECTS"
  | "MAX_BODY_BYTES" | "MAX_JSON_VALUES" | "MAX_PARTS" | "MAX_ACTIVE_TASKS"
  | "MAX_EVENT_BYTES" | "MAX_TASK_BYTES" | "MAX_HISTORY" | "MAX_ARTIFACTS" | "MAX_STEPS" | "MAX_DEPTH" | "MCP_WAIT_MS" | "MCP_REMOTES"
  | "MAX_STEP_BYTES" | "MAX_STREAMS" | "MAX_WEBHOOKS"
  | "BLOCKING_LIMIT_MS" | "TASK_GRACE_MS" | "RUN_TIMEOUT_MS" | "IDLE_TIMEOUT_MS" | "MAX_ATTEMPTS" | "KEEP_ALIVE_MS" | "EVENT_INTERVAL_MS"
  | "INDEX_WAIT_MS" | "RETENTION_MS" | "MAX_FINISHED_TASKS" | "TASK_STATISTICS" | "USAGE_CURRENCY" | "INDEX" | "INDEX_COPY" | "INDEX_SHARD_WRITES" | "INDEX_SHARD_BYTES"
  | "WEBHOOK_TIMEOUT_MS" | "WEBHOOK_ATTEMPTS" | "WEBHOOK_MAX_AGE_MS" | "WEBHOOK_RETRY_MS" | "WEBHOOK_SUSPEND_AFTER" | "WEBHOOK_HOSTS"
  | "WEBHOOK_ALLOW_PRIVATE"
  | "SIGNING_JWK" | "WEBHOOK_JWK" | "STATE_KEY" | "OTLP_HEADERS";
