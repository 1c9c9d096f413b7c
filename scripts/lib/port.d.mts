/** A port of this machine that nobody listens at now. */
export function freePort(): Promise<number>;
