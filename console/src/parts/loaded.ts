// What a page reads once it is there.
import { useEffect, useState } from "preact/hooks";

export interface Loaded<Value> {
  /** Undefined until it is read. */
  value: Value | undefined;
  /** Why it was not read. */
  problem: unknown;
  /** How often it was read again. */
  attempt: number;
  /** Reads it again. */
  again: () => void;
}

/** Reads what `load` gives, and anew when `of` is another: what was read for an earlier one is never shown. */
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
