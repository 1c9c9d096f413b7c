/** What a secret is (catalogue.mjs), of those that are made here. */
export type Made = "caller" | "shared" | "request" | "signing" | "state";

/** A new value. */
export function make(kind: Made, now?: Date): string;
