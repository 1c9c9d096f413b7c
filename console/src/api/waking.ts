// Pauses, and events that end them early: the connection has returned, or the machine has woken.
const TICK_MS = 5000;
/** Timers of a hidden tab run once a minute, so a shorter gap does not mean that the machine slept. */
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

/** Calls `listener` each time the machine wakes or the connection returns, until the returned function is called. */
export function onWake(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Resolves when the machine wakes or the connection returns, or when the signal is aborted. */
export function whenAwake(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = onWake(() => (stop(), resolve()));
    signal.addEventListener("abort", () => (stop(), resolve()), { once: true });
  });
}

/** Resolves after this time, or when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
