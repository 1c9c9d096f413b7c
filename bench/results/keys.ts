// The names of what is measured, for `--only`, in the order of docs/benchmarks.md.

/** The rows of the comparison. */
export const DISCIPLINES = ["send", "get", "list", "first-event", "fan-out", "chunks", "memory", "start", "isolate"] as const;

/** The sections of the page behind the comparison. */
export const SECTIONS = [
  "steps", "size", "requests", "access", "telemetry", "agents", "functions", "streams", "webhooks", "lists", "costs", "distance", "attacks", "bodies", "project", "console",
] as const;

export type DisciplineKey = (typeof DISCIPLINES)[number];
export type SectionKey = (typeof SECTIONS)[number];
export type Key = DisciplineKey | SectionKey;

/** The sections of `--quick`, unless `--only` selects others. */
export const QUICK: Key[] = ["send", "get", "list", "first-event", "fan-out", "costs", "start"];

export const isDiscipline = (key: string): key is DisciplineKey => (DISCIPLINES as readonly string[]).includes(key);

/** The keys that `--only` selects: names of this file, and `comparison` for all rows of the comparison. Throws an unknown name. */
export function selected(names: readonly string[]): Key[] {
  const keys = names.flatMap((name) => (name === "comparison" ? DISCIPLINES : [name]));
  const all: readonly string[] = [...DISCIPLINES, ...SECTIONS];
  const unknown = keys.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`There is no section "${unknown}", but these: comparison, ${all.join(", ")}`);
  return all.filter((key) => keys.includes(key)) as Key[];
}
