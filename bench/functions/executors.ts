// Executors in TypeScript for the benchmarks. All but `repeating` and `chunking` give back the text of their message, as the agent `demo` does.
import { executor, type Turn } from "a2a-edge";
import { chunk } from "../chunk.ts";

/** Returns its result without a promise. */
export const returning = executor({
  execute(turn) {
    turn.working();
    return turn.text;
  },
});

/** Returns a promise that waits for nothing outside. */
export const awaiting = executor({
  async execute(turn) {
    turn.working();
    return turn.text;
  },
});

/** Waits for a timer. */
export const sleeping = executor({
  async execute(turn) {
    turn.working();
    await turn.sleep(1);
    return turn.text;
  },
});

/** Does one step. */
export const stepping = executor({
  async execute(turn) {
    turn.working();
    return turn.step("read", () => turn.text);
  },
});

/** Streams its result. */
export const streaming = executor({
  async *execute(turn) {
    turn.working();
    yield turn.text;
  },
});

/** What `repeating` is told: `steps 200`, or with requests in its steps `steps 20 http://127.0.0.1:8000`. */
type Work = (turn: Turn, count: number, url?: string) => void | Promise<void>;

const works: Record<string, Work> = {
  async steps(turn, count, url) {
    const work = (number: number) => (url === undefined ? number : turn.fetch(`${url}/${number}`).then(() => number));
    for (let number = 1; number <= count; number += 1) await turn.step("count", () => work(number));
  },
  statuses(turn, count) {
    for (let number = 1; number <= count; number += 1) turn.working(`at ${number}`);
  },
  async parts(turn, count) {
    await turn.write((out) => { for (let number = 0; number < count; number += 1) out.write({ text: "tick " }); });
  },
  async texts(turn, count) {
    await turn.write((out) => { for (let number = 0; number < count; number += 1) out.write("tick "); });
  },
};

/** Repeats something as often as its message says, and completes without a result. */
export const repeating = executor({
  async execute(turn) {
    const [what = "", count, url] = turn.text.split(" ");
    await works[what]?.(turn, Number(count), url);
  },
});

/** Writes chunks one after the other, as a model does: `chunks 500 every 20`. */
export const chunking = executor({
  async execute(turn) {
    const [, count, , everyMs] = turn.text.split(" ");
    await turn.write(async (out) => {
      for (let number = 0; number < Number(count); number += 1) {
        out.write(chunk(Date.now()));
        await turn.sleep(Number(everyMs));
      }
    });
  },
});
