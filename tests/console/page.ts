// What modules of the console ask of a page when they are loaded: imported first, it stands in for one.

/** Its listeners are never called. */
globalThis.addEventListener ??= () => undefined;

// The clock of a page ends with it; that of a test must not keep its process alive.
const { setInterval } = globalThis;
globalThis.setInterval = ((...args: Parameters<typeof setInterval>) => setInterval(...args).unref()) as typeof setInterval;

/** What a browser keeps. */
const kept = new Map<string, string>();
Object.defineProperty(globalThis, "localStorage", {
  configurable: true,
  value: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  },
});
