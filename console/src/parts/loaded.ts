// Data that a page loads when it is opened.
import { useEffect, useState } from "preact/hooks";

export interface Loaded<Value> {
  /** Undefined until the data is loaded. */
  value: Value | undefined;
  /** The reason why loading has failed. */
  problem: unknown;
  /** The number of repetitions. */
  attempt: number;
  /** Loads the data again. */
  again: () => void;
}

/** Loads data with `load`, and loads again when `of` changes: data of an earlier `of` is never shown. */
export function useLoaded<Value>(load: (signal: AbortSignal) => Promise<Value>, of: string): Loaded<Value> {
  const [read, setRead] = useState<{ of: string; value?: Value; problem?: unknown }>({ of });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    const set = (found: { value: Value } | { problem: unknown }) => leaving.signal.aborted || setRead({ of, ...found });
    load(leaving.signal).then((value) => set({ value }), (problem: unknown) => set({ problem }));
    return () => leaving.abort();
  }, [of, attempt]);
  const shown = read.of === of ? read : undefined;
  return { value: shown?.value, problem: shown?.problem, attempt, again: () => (setRead({ of }), setAttempt(attempt + 1)) };
}
