// What an attack is, for the runner (attacks.ts). Each attack has a file of its own beside this one.

import type { Worker } from "../workers.ts";

/** Something that is done to a Worker to keep it from answering others. */
export interface Attack {
  /** What it does, for its rows in the table. */
  name: string;
  /** Starts what the Worker needs for it, as servers that it calls. Without it, the Worker has no variables of its own. */
  prepare?(): Promise<Ground>;
  /** Begins it. The promise is kept when the attack is under way; it goes on until it is stopped. */
  begin(worker: Worker): Promise<Running>;
}

/** What an attack needs beside the Worker. */
export interface Ground {
  /** The variables of the Worker. */
  vars: Record<string, string>;
  close(): Promise<void>;
}

/** An attack that is under way. */
export interface Running {
  /** Ends it, and gives back what it has opened. */
  stop(): Promise<void>;
}
