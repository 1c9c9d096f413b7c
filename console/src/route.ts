// Which page is shown. The place behind the `#` says it, so a link to a page never leaves the browser.
import { batch, computed, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";

/** A place in the console: the parts of its path, decoded, and its query. */
export interface Place {
  /** As `["tasks", "demo", "4f…"]`; never empty: the first part is the name of the page. */
  path: [string, ...string[]];
  query: URLSearchParams;
}

/** The page that is shown where the address names none. */
const START = "agents";

/** A place of the browser's history as the person left it. */
interface Visit {
  id: number;
  /** The number of pixels above the window. */
  top: number;
  /** The address of the link in `main` that had the focus. */
  focus: string | undefined;
  /** What its pages keep (`useKept`). */
  kept: Map<string, unknown>;
}

/** The number of visits of which something is kept; the oldest goes first. */
const MAX_VISITS = 20;

const visits = new Map<number, Visit>();
const hash = signal(location.hash);
/** The visit that is shown. */
export const visit = signal(visitNow());
/** How the person has come to it: `back` with the buttons of the browser. */
export const cameBy = signal<"start" | "link" | "back">("start");

// The page brings people back to where they were, when it has what was there.
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

/** The visit of the browser's entry, which holds its number. */
function visitNow(): Visit {
  const { visit: known, top = 0 } = (history.state ?? {}) as { visit?: number; top?: number };
  const id = known ?? Date.now() + Math.random();
  if (id !== known) history.replaceState({ visit: id }, "");
  const found = visits.get(id) ?? { id, top, focus: undefined, kept: new Map() };
  visits.set(id, found);
  for (const old of visits.keys()) if (visits.size > MAX_VISITS) visits.delete(old);
  return found;
}

/** What a page keeps under this key while the person is elsewhere, for the way back; made where there is nothing. */
export function useKept<Value>(key: string, make: () => Value): Value {
  const { kept } = visit.value;
  return useMemo(() => {
    const value = kept.has(key) ? (kept.get(key) as Value) : make();
    kept.set(key, value);
    return value;
  }, [kept, key]);
}

/** The place that is shown. */
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

/** Goes to a place; with `replace` the one that is left is not in the browser's history. */
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
