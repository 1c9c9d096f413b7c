// The message that began a task, to be sent once more: to its agent, or to another one of this Worker. Pure.
import { Problem } from "./problem.ts";
import type { Message, Task } from "./types.ts";

/**
 * The first message of a task, as a message of its own: with its parts, files and metadata, in a context that is new. `id` is its id.
 *
 * @throws {Problem} with the reason why the message cannot be sent again.
 */
export function messageAgain({ history = [] }: Pick<Task, "history">, { id, isSameAgent }: { id: string; isSameAgent: boolean }): Message {
  const first = history.find(({ role }) => role === "ROLE_USER");
  if (first === undefined) throw new Problem("The message that began this task is not kept, so it cannot be sent again.");
  if (first.parts.length === 0) throw new Problem("The message that began this task is empty.");
  const { role, parts, metadata, extensions, referenceTaskIds } = first;
  return {
    messageId: id,
    role,
    parts,
    ...(metadata === undefined ? {} : { metadata }),
    ...(extensions === undefined ? {} : { extensions }),
    // Another agent does not know the tasks of this one.
    ...(referenceTaskIds === undefined || !isSameAgent ? {} : { referenceTaskIds }),
  };
}
