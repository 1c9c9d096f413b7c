// The growth of workerd's memory for bodies that are small as text and large as trees.

import { hostile, MEBIBYTE, memoryOf, post, warmUp } from "../tests/e2e/hostile-bodies.ts";
import { digits, grouped, type Effort, type Section } from "./figures.ts";
import { startBuilt } from "./workers.ts";

const AT_ONCE = 20;

export async function memory({ isQuick }: Effort): Promise<Section> {
  const kinds = Object.entries({ ...hostile.tooMany, ...hostile.most, ...hostile.large });
  const chosen = isQuick ? kinds.filter((_, index) => index % 6 === 0) : kinds;
  const rows: string[][] = [];
  // Only Linux reports the peak memory of a process exactly.
  if (process.platform === "linux") {
    for (const [kind, make] of chosen) {
      const body = Buffer.from(make());
      const one = await grown(body, 1);
      const many = await grown(body, AT_ONCE);
      const perByte = digits((one.megabytes * MEBIBYTE) / body.length);
      rows.push([kind, grouped(body.length / 1000), String(one.megabytes), perByte, one.answers, String(many.megabytes), many.answers]);
    }
  } else {
    rows.push(["measured on Linux only", "", "", "", "", "", ""]);
  }
  return {
    title: "Memory",
    text:
      "Each body is posted to the tool agent of a fresh Worker, once and 20 times at the same time. `MB` is how much more memory the " +
      "process of workerd had at its peak than idle just before, after some other sends: front Worker, task objects, D1 and storage " +
      "are all in it, and garbage that was not collected yet.",
    columns: ["body", "KB", "one: MB", "for each byte", "answers", `${AT_ONCE} at once: MB`, "answers"],
    rows,
  };
}

/** The memory of a fresh Worker for `count` simultaneous copies of a body, and the answers. */
async function grown(body: Buffer, count: number): Promise<{ megabytes: number; answers: string }> {
  const worker = await startBuilt();
  try {
    await warmUp(worker.url);
    const memory = memoryOf(worker.pid);
    const answers = await Promise.all(Array.from({ length: count }, () => post(worker.url, body)));
    const megabytes = memory.grown();
    const tally = new Map<string, number>();
    for (const { status, text } of answers) {
      const answer = status === 503 ? "503" : (/"code":(-\d+)/.exec(text)?.[1] ?? String(status));
      tally.set(answer, (tally.get(answer) ?? 0) + 1);
    }
    return { megabytes, answers: [...tally].map(([answer, times]) => `${times} × ${answer}`).sort().join(", ") };
  } finally {
    await worker.stop();
  }
}
