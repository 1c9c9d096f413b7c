// The types of "a2a-edge/verbs".
import type { Executor, Json, Message, Meta, Part, Usage } from "./index.d.ts";

/**
 * Makes an executor of a program that answers a turn with verbs, as agents of kind `http` do (docs/http-agents.md), in the Worker
 * itself.
 *
 * ```ts
 * const poet = fromVerbs(async function* (turn) {
 *   if (turn.turn === 1) return yield { do: "input_required", text: "A poem about what?" };
 *   yield { do: "working", text: "looking for rhymes" };
 *   yield { do: "artifact", text: "Roses are red,\n", more: true };
 *   yield { do: "append", text: "and this is for you.\n" };
 *   yield { do: "complete" };
 * });
 * ```
 *
 * The rules are those of docs/http-agents.md: exactly one verb ends the answer, and it is the last one; without an `id`, an
 * artifact is `artifact-<turn>-<number>`. When the task is canceled, the generator is closed. `history` has the messages of this
 * task alone.
 *
 * `recovery` is `restart` unless given: an interrupted turn is answered again from the start, with a higher `attempt` and
 * `resumes: true`; artifacts that begin again replace those of before. With `fail` the task fails.
 */
export function fromVerbs(
  answer: (turn: HttpTurn) => AsyncIterable<Verb> | Iterable<Verb>,
  options?: { recovery?: "restart" | "fail" },
): Executor<{}>;

/** A turn, as it is posted to agents of kind `http`. */
export interface HttpTurn {
  readonly version: "1";
  readonly agent: string;
  readonly taskId: string;
  readonly contextId: string;
  /** Which of the client's messages in the task this is about, from 1. */
  readonly turn: number;
  readonly attempt: number;
  /** Whether an earlier attempt may have said something. */
  readonly resumes: boolean;
  readonly timeLeftMs: number;
  readonly message: Message;
  readonly history: readonly Message[];
  readonly caller: { readonly id: string; readonly permissions: readonly string[] };
  readonly acceptedOutputModes: readonly string[];
  readonly metadata?: Meta;
  readonly credentials?: Readonly<Record<string, string>>;
  readonly task?: Json;
}

/** The content of a verb: one of them, or several parts. */
export type VerbContent =
  | ({ text: string } & File) | ({ data: Json } & File) | ({ raw: string | Uint8Array } & File) | ({ url: string } & File)
  | { parts: readonly Part[] };

interface File {
  filename?: string;
  mediaType?: string;
}

/** A verb. `usage` is what the turn has used so far, in all: of two values the higher one counts. */
export type Verb =
  | { do: "working"; text?: string; parts?: readonly Part[] }
  | ({ do: "artifact"; id?: string; name?: string; description?: string; metadata?: Meta; more?: boolean } & VerbContent)
  | ({ do: "append"; id?: string; last?: boolean } & VerbContent)
  | ({ do: "usage" } & Usage)
  | { do: "complete"; text?: string; parts?: readonly Part[]; usage?: Usage }
  | ({ do: "fail" | "reject" | "input_required" | "auth_required"; usage?: Usage } & ({ text: string } | { parts: readonly Part[] }))
  | ({ do: "reply"; usage?: Usage } & VerbContent);
