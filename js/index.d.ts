// The types of "a2a-edge". They need no other package: the handlers fit `ExportedHandler` of `wrangler types`.

/** The agents of the project in the checked form: the default export of `#agents`, which `a2a-edge build` writes. */
export interface Agents {
  /** The version of a2a-edge that checked the files. A Worker of another version does not start with them. */
  readonly version: string;
  readonly index: string;
  readonly agents: Readonly<Record<string, string>>;
}

/** The event handlers of a Worker. */
export interface Handlers {
  fetch(request: Request, env: object, context: object): Promise<Response>;
  queue(batch: object, env: object, context: object): Promise<void>;
  scheduled(event: object, env: object, context: object): Promise<void>;
}

/**
 * Makes the event handlers of a Worker: the default export of its entry module. Throws where the agents were checked by another
 * version of a2a-edge; the Worker then does not start.
 */
export function worker(parts: { agents: Agents }): Handlers;

/** The class of the Durable Objects that hold the tasks, one each. The entry module exports it. */
export declare class TaskObject {
  constructor(state: object, env: object);
}
