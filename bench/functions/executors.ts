// Executors in TypeScript for the benchmarks. All but `repeating` give back the text of their message, as the agent `demo` does.
import { executor, type Turn } from "a2a-edge";

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

/** What `repeating` is told: `steps 200`. */
type Work = (turn: Turn, count: number) => void | Promise<void>;

const works: Record<string, Work> = {
  async steps(turn, count) {
    for (let number = 1; number <= count; number += 1) await turn.step("count", () => number);
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
    const [what = "", count] = turn.text.split(" ");
    await works[what]?.(turn, Number(count));
  },
});
