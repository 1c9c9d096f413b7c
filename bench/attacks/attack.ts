// The interface of an attack for the runner (attacks.ts). Each attack has its own file in this folder.

import type { Worker } from "../workers.ts";

/** A load on a Worker that is meant to keep it from answering others. */
export interface Attack {
  /** A description, for its rows in the table. */
  name: string;
  /** Starts the servers that the Worker needs for the attack. Without it, the Worker has no variables of its own. */
  prepare?(): Promise<Ground>;
  /** Begins the attack. Resolves when the attack is under way; it continues until it is stopped. */
  begin(worker: Worker): Promise<Running>;
}

/** The surroundings of an attack. */
export interface Ground {
  /** The variables of the Worker. */
  vars: Record<string, string>;
  close(): Promise<void>;
}

/** A running attack. */
export interface Running {
  /** Ends the attack, and closes everything that it has opened. */
  stop(): Promise<void>;
}
