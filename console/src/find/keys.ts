// The keys of the whole page. Single keys do nothing while something is typed, and can be turned off (WCAG 2.1.4).
import { signal } from "@preact/signals";
import { stepRow } from "./rows.ts";

/** What is open: the palette, or the list of keys. */
export const opened = signal<"palette" | "keys" | undefined>(undefined);

const KEY = "a2a-edge.keys";
/** True if single keys act. */
export const hasSingleKeys = signal(localStorage.getItem(KEY) !== "off");

/** Turns single keys on or off, for this browser. */
export function setSingleKeys(isOn: boolean): void {
  hasSingleKeys.value = isOn;
  try {
    if (isOn) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, "off");
  } catch {
    // Without storage, it is so until the page is closed.
  }
}

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
/** The name of the key that opens the palette. */
export const PALETTE_KEY = isApple ? "⌘ K" : "Ctrl K";

/** All keys with what they do. */
export const KEYS: readonly (readonly [key: string, does: string])[] = [
  [PALETTE_KEY, "Find: pages, agents, skills, saved views, tasks by their ids and words"],
  ["/", "Search on this page, or find"],
  ["j, k", "The next row of a list, the row before"],
  ["?", "This list of keys"],
];

/** The actions of single keys; false if there was nothing to do. */
const SINGLE: Readonly<Record<string, () => boolean>> = {
  "/": search,
  "?": () => open("keys"),
  j: () => stepRow(1),
  k: () => stepRow(-1),
};

/** Acts by keys; returns a function that ends this. */
export function listenToKeys(): () => void {
  document.addEventListener("keydown", act);
  return () => document.removeEventListener("keydown", act);
}

function act(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.repeat && event.key === "?") return;
  const isFind = event.key.toLowerCase() === "k" && (isApple ? event.metaKey : event.ctrlKey) && !event.altKey && !event.shiftKey;
  if (isFind) {
    // The browser's own search is not opened either.
    event.preventDefault();
    if (document.querySelector("dialog[open]") === null) open("palette");
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !hasSingleKeys.peek() || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]") === null && SINGLE[event.key]?.() === true) event.preventDefault();
}

/** True if keys write into the element, or choose one of its options. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])");
}

function open(what: "palette" | "keys"): boolean {
  opened.value = what;
  return true;
}

function search(): boolean {
  const field = [...document.querySelectorAll<HTMLInputElement>("main input[type=search]")].find((input) => input.checkVisibility());
  if (field === undefined) return open("palette");
  field.focus();
  field.select();
  return true;
}
