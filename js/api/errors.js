// The errors of runs: those that authors throw and meet, and the forms in which they cross to the engine.

const FAULTS = ["arguments", "tool", "upstream"];

// Symbols of the registry, so that an error of a second copy of this module is known, too.
const IS_FAILURE = Symbol.for("a2a-edge.Failure");
const IS_RUN_OVER = Symbol.for("a2a-edge.RunOver");

/** An error whose text callers read. */
export class Failure extends Error {
  /**
   * @param {string} text
   * @param {{ fault?: "arguments" | "tool" | "upstream", cause?: unknown, retryAfter?: import("../index.d.ts").Duration }}
   *   [options]
   */
  constructor(text, { fault = "tool", cause, retryAfter } = {}) {
    super(text, cause === undefined ? undefined : { cause });
    if (!FAULTS.includes(fault)) throw new TypeError(`${JSON.stringify(fault)} is no fault; there are: ${FAULTS.join(", ")}`);
    this.name = "Failure";
    this.fault = fault;
    this.retryAfter = retryAfter;
  }

  get [IS_FAILURE]() {
    return true;
  }
}

/** What methods of a run throw when the run is over, and the reason of its signal. */
export class RunOver extends Error {
  /** @param {"canceled" | "timeout" | "parked" | "over"} why */
  constructor(why) {
    super(ENDS[why]);
    this.name = "RunOver";
    this.why = why;
  }

  get [IS_RUN_OVER]() {
    return true;
  }
}

const ENDS = {
  canceled: "the run is over: its task was canceled",
  timeout: "the run is over: its time is up",
  parked: "the run is over: it waits outside of memory, and begins again at the top of its function when the wait ends",
  over: "the run is over: its function has returned, or the task has ended",
};

/** @param {unknown} error @returns {error is Failure} */
export const isFailure = (error) => hasMark(error, IS_FAILURE);

/** @param {unknown} error @returns {error is RunOver} */
export const isRunOver = (error) => hasMark(error, IS_RUN_OVER);

/** Whether an error has a mark; an object whose members throw has none. @param {unknown} error @param {symbol} mark */
function hasMark(error, mark) {
  try {
    return typeof error === "object" && error !== null && /** @type {Record<symbol, unknown>} */ (error)[mark] === true;
  } catch {
    return false;
  }
}

/**
 * The error for what a function of the bridge has thrown.
 *
 * @param {unknown} thrown @returns {unknown}
 */
export function refusal(thrown) {
  if (typeof thrown !== "string") return thrown;
  const why = thrown.startsWith("~") ? thrown.slice(1) : "";
  return Object.hasOwn(ENDS, why) ? new RunOver(/** @type {keyof typeof ENDS} */ (why)) : new Error(thrown);
}

/**
 * The end of a function that has thrown, as the engine reads it (src/executor/function/thrown.rs). With `isFailure`, callers read
 * `failed`; otherwise it is for the log alone.
 *
 * @param {unknown} error
 */
export function thrownJson(error) {
  const { text, stack } = told(error);
  const forCallers = isFailure(error) ? { fault: error.fault, isFailure: true } : { isFailure: false };
  return JSON.stringify({ failed: text, ...forCallers, stack });
}

/**
 * The reason that is stored for a step that has failed: who is at fault, and the text.
 *
 * @param {unknown} error
 */
export function storedReason(error) {
  return `${isFailure(error) ? error.fault : "error"}: ${told(error).text}`.slice(0, MAX_REASON_CHARS);
}

/** The longest reason that is stored, far below the limit of what a step may give. */
const MAX_REASON_CHARS = 8_192;

/**
 * The error of a step that failed in an earlier attempt.
 *
 * @param {string} reason
 */
export function recalled(reason) {
  const [, kind, text] = /^(arguments|tool|upstream|error): ([^]*)$/.exec(reason) ?? [];
  if (kind === undefined || text === undefined || kind === "error") return new Error(text ?? reason);
  return new Failure(text, { fault: /** @type {Failure["fault"]} */ (kind) });
}

/**
 * The text and the stack of anything that was thrown, also of objects whose members throw.
 *
 * @param {unknown} error @returns {{ text: string, stack?: string | undefined }}
 */
function told(error) {
  try {
    if (!(error instanceof Error)) return { text: `${described(error)} was thrown, which is no Error; ${INSTEAD}` };
    const text = withAdvice(String(error.message) || error.name);
    return { text, stack: `${stackOf(error) ?? text}${causes(error)}` };
  } catch {
    return { text: "an object was thrown that cannot be read" };
  }
}

const INSTEAD = 'throw new Failure("…") for a text that callers read';

/** @param {unknown} value */
function described(value) {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 1_000));
  if (typeof value !== "object" || value === null) return String(value);
  return `${value.constructor?.name ?? "object"} ${(JSON.stringify(value) ?? "").slice(0, 1_000)}`.trim();
}

/**
 * The stack of an error up to the first frame of WebAssembly: the engine has called the function from there.
 *
 * @param {Error} error
 */
function stackOf({ stack }) {
  if (typeof stack !== "string") return undefined;
  const lines = stack.split("\n");
  const end = lines.findIndex((line) => line.includes("wasm://"));
  return lines.slice(0, Math.min(end < 0 ? lines.length : end, MAX_STACK_LINES)).join("\n");
}

const MAX_STACK_LINES = 40;

/** The stacks of the causes of an error. @param {Error} error */
function causes(error) {
  let [text, cause] = ["", error.cause];
  for (let depth = 0; cause !== undefined && cause !== null && depth < 5; depth += 1) {
    text += `\nCaused by: ${cause instanceof Error ? (stackOf(cause) ?? cause.message) : described(cause)}`;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return text;
}

/** The text of an error of the platform, with what to do. @param {string} text */
function withAdvice(text) {
  if (!/Cannot perform I\/O on behalf of a different/.test(text)) return text;
  return `${text}\n${FOREIGN_IO}`;
}

const FOREIGN_IO =
  "A body, a socket, a stream or a stub of another task or request was used. Module variables are shared by all tasks of an " +
  "isolate: keep values in them (texts, numbers, plain objects), and open bodies, sockets, streams and stubs in the run that uses them.";
