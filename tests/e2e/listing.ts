// Helpers for lists of tasks, with the agent `demo` of the Worker of a spec file.

import { Agent, message, type Task, type TaskList } from "./client.ts";

export { demo, withWorker, worker } from "./demo.ts";

export const list = (agent: Agent, params: Record<string, unknown> = {}): Promise<TaskList> => agent.listTasks(params);

/** Begins a task in this context. */
export const sendIn = (agent: Agent, contextId: string, text: string): Promise<Task> =>
  agent.sendForTask(message({ contextId, parts: [{ text }] }));

export const ids = (tasks: Task[]): string[] => tasks.map(({ id }) => id);

/** The tasks in the order of a listing: newest status first, ties by id descending. */
export const inOrder = (tasks: Task[]): Task[] =>
  [...tasks].sort((a, b) => {
    const [first, second] = [a, b].map(({ id, status }) => `${status.timestamp} ${id}`) as [string, string];
    return first < second ? 1 : -1;
  });

/** All tasks of a listing, page by page; `between` is called between two pages. */
export async function everyPage(
  agent: Agent,
  params: Record<string, unknown>,
  between: () => Promise<unknown> = async () => {},
): Promise<Task[]> {
  const tasks: Task[] = [];
  for (let pageToken = ""; ; ) {
    const page = await list(agent, { ...params, pageToken });
    tasks.push(...page.tasks);
    if (page.nextPageToken === "") return tasks;
    pageToken = page.nextPageToken;
    await between();
  }
}
