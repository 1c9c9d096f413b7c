// The address of the shown page. It is after the `#`, so a link to a page is never sent to a server.
import { batch, computed, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";

/** A place in the console: the parts of its path, decoded, and its query. */
export interface Place {
  /** For example `["tasks", "demo", "4f…"]`; never empty: the first part is the name of the page. */
  path: [string, ...string[]];
  query: URLSearchParams;
}

/** The page for an address without a page. */
const START = "agents";

/** An entry of the browser's history with the state that the page had when it was left. */
interface Visit {
  id: number;
  /** The scroll position, in pixels. */
  top: number;
  /** The address of the link in `main` that had the focus. */
  focus: string | undefined;
  /** The values that its pages keep (`useKept`). */
  kept: Map<string, unknown>;
}

/** The largest number of visits that are kept; the oldest is dropped first. */
const MAX_VISITS = 20;

const visits = new Map<number, Visit>();
const hash = signal(location.hash);
/** The shown visit. */
export const visit = signal(visitNow());
/** How the person has reached it: `back` means with the buttons of the browser. */
export const cameBy = signal<"start" | "link" | "back">("start");

// The page itself restores the scroll position, after its contents are loaded.
history.scrollRestoration = "manual";
addEventListener("pagehide", () => history.replaceState({ ...history.state, top: scrollY }, ""));
addEventListener("hashchange", () => {
  const left = visit.peek();
  left.top = scrollY;
  left.focus = document.activeElement?.closest("main a[href]")?.getAttribute("href") ?? undefined;
  batch(() => {
    cameBy.value = typeof history.state?.visit === "number" ? "back" : "link";
    visit.value = visitNow();
    hash.value = location.hash;
  });
});

/** The visit of the browser's history entry, which contains the id of the visit. */
function visitNow(): Visit {
  const { visit: known, top = 0 } = (history.state ?? {}) as { visit?: number; top?: number };
  const id = known ?? Date.now() + Math.random();
  if (id !== known) history.replaceState({ visit: id }, "");
  const found = visits.get(id) ?? { id, top, focus: undefined, kept: new Map() };
  visits.set(id, found);
  for (const old of visits.keys()) if (visits.size > MAX_VISITS) visits.delete(old);
  return found;
}

/** The value that a page keeps under this key for a return to this visit; created with `make` if there is none. */
export function useKept<Value>(key: string, make: () => Value): Value {
  const { kept } = visit.value;
  return useMemo(() => {
    const value = kept.has(key) ? (kept.get(key) as Value) : make();
    kept.set(key, value);
    return value;
  }, [kept, key]);
}

/** The shown place. */
export const place = computed(() => readPlace(hash.value));

/** Reads the part of an address from `#` on. */
export function readPlace(text: string): Place {
  const [path = "", query = ""] = text.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [first = START, ...rest] = path.split("/").filter((part) => part !== "").map(decoded);
  return { path: [first, ...rest], query: new URLSearchParams(query) };
}

/** The address of a place, for links: `href(["tasks", id], { state: "failed" })`. Members without a value are left out. */
export function href(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "");
  const tail = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `#/${path.map(encodeURIComponent).join("/")}${tail}`;
}

/** Goes to a place; with `replace`, the current place is removed from the browser's history. */
export function go(address: string, { replace = false } = {}): void {
  if (address === location.hash) return;
  if (replace) {
    history.replaceState(history.state, "", address);
    hash.value = address;
  } else {
    location.hash = address;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
