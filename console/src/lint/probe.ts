// What an agent answers to calls that change nothing: each names a task that does not exist.
import type { CallOptions } from "../api/endpoint.ts";

/** What an answer came to. */
export interface Outcome {
  isOk: boolean;
  /** The HTTP status; 0 where there was no answer. */
  status: number;
  /** The code of JSON-RPC, where there is one. */
  code?: number | undefined;
  /** As `TASK_NOT_FOUND`. */
  reason?: string | undefined;
  message: string;
}

/** The methods that a probe calls. */
export const METHODS = ["GetTask", "SubscribeToTask", "ListTaskPushNotificationConfigs", "GetExtendedAgentCard"] as const;

/** What each method came to, as far as it was called. */
export type Probe = { [method in (typeof METHODS)[number]]?: Outcome };

/** What a probe needs of an `Endpoint`. */
interface Callable {
  call<Result>(method: string, params: object, options?: CallOptions): Promise<Result>;
  stream(method: string, params: object, options?: CallOptions): AsyncGenerator<unknown, void>;
}

/** An id as this server makes them, of a task that nobody has begun: no object is woken for it. */
const NO_TASK = "0".repeat(64);

/** Asks the agent. Refusals for want of credentials are told, not asked for. */
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
