// Which page is shown. The place behind the `#` says it, so a link to a page never leaves the browser.
import { computed, signal } from "@preact/signals";

/** A place in the console: the parts of its path, decoded, and its query. */
export interface Place {
  /** As `["tasks", "demo", "4f…"]`; never empty: the first part is the name of the page. */
  path: [string, ...string[]];
  query: URLSearchParams;
}

/** The page that is shown where the address names none. */
const START = "agents";

const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

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
    history.replaceState(null, "", address);
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
