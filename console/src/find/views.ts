// Filters of the list of tasks that the person has saved by name, in this browser.
import { signal } from "@preact/signals";

/** A saved view: the query of the list's address. */
export interface SavedView {
  name: string;
  query: Readonly<Record<string, string>>;
}

/** The filters that a view may have. */
export const FILTERS = ["agent", "state", "context", "since", "steps", "owner", "text"] as const;

const KEY = "a2a-edge.views";
const MAX_VIEWS = 20;
export const MAX_NAME = 40;
const MAX_VALUE = 200;

/** The views by name. */
export const views = signal<readonly SavedView[]>(read(localStorage.getItem(KEY)));
// Another tab may save, too.
addEventListener("storage", ({ key, newValue }) => {
  if (key === KEY || key === null) views.value = read(newValue);
});

/** The view for these filters, without those that are empty. */
export function viewOf(name: string, filters: Readonly<Record<string, string>>): SavedView {
  const given = FILTERS.map((filter) => [filter, filters[filter] ?? ""] as const).filter(([, value]) => value !== "");
  return { name, query: Object.fromEntries(given) };
}

/** True if two views show the same tasks. */
export function isSame(one: SavedView, other: SavedView): boolean {
  return FILTERS.every((filter) => (one.query[filter] ?? "") === (other.query[filter] ?? ""));
}

/** Saves a view; it replaces one of the same name. Returns the reason if it cannot be saved. */
export function saveView(view: SavedView): string | undefined {
  const [kept] = read(JSON.stringify([view]));
  if (kept === undefined) return `A name has 1 to ${MAX_NAME} letters, and a filter at most ${MAX_VALUE}.`;
  const others = views.value.filter(({ name }) => name !== kept.name);
  if (others.length >= MAX_VIEWS) return `There are ${MAX_VIEWS} views, which is the limit: remove one first.`;
  return store([...others, kept].sort((one, other) => one.name.localeCompare(other.name)));
}

/** Removes the view of this name. */
export function removeView(removed: string): void {
  store(views.value.filter(({ name }) => name !== removed));
}

function store(next: readonly SavedView[]): string | undefined {
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    return "This browser does not keep it: its storage is full or closed.";
  }
  views.value = next;
  return undefined;
}

/** The views in a stored text, which anything may have written: what is no view is left out. */
export function read(text: string | null): SavedView[] {
  const all = new Map<string, SavedView>();
  for (const found of listIn(text)) {
    const { name, query } = (typeof found === "object" && found !== null ? found : {}) as { name?: unknown; query?: unknown };
    if (typeof name !== "string" || name.trim() === "" || name.length > MAX_NAME || typeof query !== "object" || query === null) continue;
    const filters = FILTERS.map((filter) => [filter, (query as Record<string, unknown>)[filter] ?? ""] as const);
    if (filters.some(([, value]) => typeof value !== "string" || value.length > MAX_VALUE)) continue;
    all.set(name.trim(), viewOf(name.trim(), Object.fromEntries(filters as [string, string][])));
    if (all.size >= MAX_VIEWS) break;
  }
  return [...all.values()];
}

function listIn(text: string | null): unknown[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}
