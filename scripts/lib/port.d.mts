/** A port of this machine that nobody listens at now, and which the system gives to nobody. */
export function freePort(): Promise<number>;
