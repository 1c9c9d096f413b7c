// The text of a chunk: it has the time at which the executor gives it, so that the client can tell how long the chunk was held.

/** The text of a chunk that is given now, as long as a few words. */
export const chunk = (nowMs: number): string => `@${nowMs}; and a word `;

/** The times in a text, in milliseconds. */
export const timesIn = (text: string): number[] => [...text.matchAll(/@(\d{13});/g)].map(([, time]) => Number(time));
