// Advice for a problem with a message.
import type { Problem } from "../../api/problem.ts";

/** The advice for a problem; undefined if its own text is enough. */
export function adviceFor(problem: Problem): string | undefined {
  const { status, code, retryAfter } = problem;
  if (status === 0) return "The message is still below. It is not known whether the agent has received it.";
  if (status === 413) return "Attach less: a whole request may have 4 MiB unless the server says otherwise, and files grow by a third on their way.";
  if (status === 429 || status === 503) return retryAfter === undefined ? "Wait a little, then send it again." : `Send it again in ${retryAfter} s.`;
  if (status === 401) return "Sign in with a key or a token that this agent knows.";
  if (status === 403) return "Sign in as somebody who may do this.";
  if (code === -32001) return "The task does not exist, is kept no longer, or belongs to another caller. Begin a new conversation.";
  if (code === -32004) return "The task may have ended meanwhile, or the agent does not do this. Try another way to send, or begin a new task.";
  if (code === -32005) return "Choose other media types: see what the agent's card takes and gives.";
  if (code === -32602) return "Change what is named above, and send it again.";
  return undefined;
}
