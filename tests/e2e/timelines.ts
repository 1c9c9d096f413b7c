// Timelines of tasks, with helpers for specs (docs/timeline.md).

/** An entry, with the members that the specs use. */
export interface Entry {
  kind: string;
  at: number | null;
  generation: number | null;
  state?: string;
  message?: { parts: { type: string; text?: string }[] };
  attempt?: number;
  resumes?: boolean;
  caller?: string;
  name?: string;
  type?: string;
  tool?: string;
  of?: string;
  calls?: string[];
  failed?: boolean;
  durationMs?: number;
  usage?: { requests: number };
  outcome?: string;
  input?: string;
  inputIsCut?: boolean;
  task?: { agent: string; id: string };
  askedBy?: { agent: string; id: string };
  error?: string;
  status?: number;
  origin?: string;
  webhook?: string;
  until?: number;
  unanswered?: { times: number; since: number };
}

/** A page. */
export interface Timeline {
  taskId: string;
  contextId: string;
  agent: string;
  owner?: string;
  state: string;
  generation: number;
  usage?: { requests: number };
  failedSteps?: number;
  trace?: string;
  traceIsFull?: boolean;
  underWay: { name: string; type: string; since: number }[];
  entries: Entry[];
  nextPageToken: string;
  resumeToken?: string;
}

/** All entries, page by page. */
export async function walk(page: (query: Record<string, unknown>) => Promise<Timeline>, query: { pageSize: string; order?: string }): Promise<Entry[]> {
  const all: Entry[] = [];
  let found = await page(query);
  for (;;) {
    if (found.entries.length > Number(query.pageSize)) throw new Error(`${found.entries.length} entries on a page of ${query.pageSize}`);
    all.push(...found.entries);
    if (found.nextPageToken === "") return all;
    found = await page({ pageSize: query.pageSize, pageToken: found.nextPageToken });
  }
}

/** True if the numbers never decrease. */
export const inOrder = (numbers: number[]): boolean => numbers.every((number, index) => index === 0 || (numbers[index - 1] ?? 0) <= number);
