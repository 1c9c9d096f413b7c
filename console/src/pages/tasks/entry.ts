// Entries of a timeline in words. Pure.

/** The name of a step; with its number, unless it is the first of that name. */
export function nameOf(name: string, nth: number): string {
  return nth > 1 ? `${name} ${nth}` : name;
}

/** What tells an entry from others: several may be of the same instant. */
export const placeOf = (entry: { at: number; generation: number | null; name?: string; nth?: number }): string =>
  [entry.at, entry.generation ?? "", entry.name ?? "", entry.nth ?? ""].join(" ");
