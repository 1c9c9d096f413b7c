// What a message tells the executor `chain` (chain.ts) to do. The soak makes such messages.

/** One message. */
export interface Plan {
  /** Nobody else's; the first segment of the paths of its requests. */
  name: string;
  /** The place of its first job. Places count over all messages of a task, from 1. */
  first: number;
  jobs: Job[];
  /** Whether the turn ends with a question instead of a result. */
  asks: boolean;
}

/** One job. Each has a place, and a value, which the run gives as its result. */
export type Job =
  /** A step with a request; its value is the nonce of the request. */
  | { do: "step" }
  /** Several steps at once; their values are a list. */
  | { do: "steps"; count: number }
  /** A text in pieces, with a pause before each; its value is the text. */
  | { do: "write"; pieces: number; pauseMs: number }
  /** A wait outside of memory; its value is "time". */
  | { do: "wait"; ms: number }
  /** A callback: a step with a request that has the URL, and then a wait; its value is the text that was posted. */
  | { do: "callback" }
  /** A message to another agent, whose task has so many steps; its value is the text of the answer. */
  | { do: "remote"; agent: string; steps: number };

/** The body of a request of a job. */
export interface Post {
  task: string;
  place: number;
  /** Of this request alone. */
  nonce: string;
  /** Of this run of the function alone. */
  run: string;
  /** The URL of the callback, if the job has one. */
  notify?: string;
}

/** The id of the artifact that a job writes. */
export const textId = (place: number): string => `text-${place}`;

/** The first piece of each text. */
export const BEGINNING = "<begins>";
