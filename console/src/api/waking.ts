// Pauses, and when to cut them short: the connection is there again, or the machine has woken.
const TICK_MS = 5000;
/** Timers of a tab that nobody sees run once a minute, so less is no sleep. */
const SLEEP_MS = 90_000;

const listeners = new Set<() => void>();
const wake = () => [...listeners].forEach((listener) => listener());

let ticked = Date.now();
setInterval(() => {
  const slept = Date.now() - ticked > SLEEP_MS;
  ticked = Date.now();
  if (slept) wake();
}, TICK_MS);
addEventListener("online", wake);
addEventListener("pageshow", ({ persisted }) => persisted && wake());

/** Calls `listener` each time the machine wakes or the connection is there again, until the result is called. */
export function onWake(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Ends at the next waking, or with the signal. */
export function whenAwake(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = onWake(() => (stop(), resolve()));
    signal.addEventListener("abort", () => (stop(), resolve()), { once: true });
  });
}

/** Ends after this time, or with the signal. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
