/** A kind of executors, by what its agents are to the tasks of a soak. */
export type Kind = "scripts" | "tools" | "model" | "coordinator" | "http" | "callback" | "remote" | "mcp" | "functions";

export const KINDS: readonly Kind[];
export const USUAL_KINDS: readonly Kind[];
export function kindsIn(list: string): Kind[] | undefined;
