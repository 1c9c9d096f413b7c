// The answers of an agent to calls that change nothing: each names a task that does not exist.
import type { CallOptions } from "../api/endpoint.ts";

/** The result of a call. */
export interface Outcome {
  isOk: boolean;
  /** The HTTP status; 0 if there was no answer. */
  status: number;
  /** The code of JSON-RPC, if there is one. */
  code?: number | undefined;
  /** For example `TASK_NOT_FOUND`. */
  reason?: string | undefined;
  message: string;
}

/** The methods that a probe calls. */
export const METHODS = ["GetTask", "SubscribeToTask", "ListTaskPushNotificationConfigs", "GetExtendedAgentCard"] as const;

/** The result of each method that was called. */
export type Probe = { [method in (typeof METHODS)[number]]?: Outcome };

/** The part of an `Endpoint` that a probe needs. */
interface Callable {
  call<Result>(method: string, params: object, options?: CallOptions): Promise<Result>;
  stream(method: string, params: object, options?: CallOptions): AsyncGenerator<unknown, void>;
}

/** An id in the form of this server, of a task that nobody has begun: no object is woken for it. */
const NO_TASK = "0".repeat(64);

/** Calls the agent. Refusals because of missing credentials are results and do not open the sign-in. */
export async function probe(endpoint: Callable, signal?: AbortSignal): Promise<Probe> {
  const options = { isQuiet: true, signal };
  const one = async (method: keyof Probe): Promise<[string, Outcome]> => {
    try {
      if (method === "SubscribeToTask") await endpoint.stream(method, { id: NO_TASK }, options).next();
      else await endpoint.call(method, paramsOf(method), options);
      return [method, { isOk: true, status: 200, message: "" }];
    } catch (thrown) {
      return [method, outcomeOf(thrown)];
    }
  };
  return Object.fromEntries(await Promise.all(METHODS.map(one)));
}

function paramsOf(method: keyof Probe): object {
  if (method === "GetTask") return { id: NO_TASK };
  return method === "ListTaskPushNotificationConfigs" ? { taskId: NO_TASK } : {};
}

function outcomeOf(thrown: unknown): Outcome {
  const { status, code, reason, message } = thrown as { status?: number; code?: number; reason?: string; message?: string };
  return { isOk: false, status: status ?? 0, code, reason, message: message ?? String(thrown) };
}
