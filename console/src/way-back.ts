// Sets scroll position and focus of a shown page: at its beginning after a link, at the earlier position after going back.
import { useLayoutEffect } from "preact/hooks";
import type { RefObject } from "preact";
import { cameBy, place, visit } from "./route.ts";

/** How long the earlier position is tried until the contents of the page are loaded. */
const PATIENCE_MS = 5000;
/** The events with which a person moves. */
const MOVES = ["wheel", "touchstart", "pointerdown", "keydown"];

/** Pages whose further address parts are tabs, or are added by the page itself. */
const WITH_TABS = new Set(["agents", "remote", "chat"]);

/** Moves the focus and the scroll position when another page is shown. `main` can have the focus. */
export function useWayBack(main: RefObject<HTMLElement | null>): void {
  const shown = visit.value;
  const { path } = place.value;
  const page = (WITH_TABS.has(path[0]) ? path.slice(0, 2) : path).join("/");
  useLayoutEffect(() => {
    const root = main.current;
    if (root === null) return;
    const by = cameBy.peek();
    // Another page gets the focus at its beginning, where keyboards and screen readers continue.
    if (by !== "start") root.focus({ preventScroll: true });
    if (by === "link") return scrollTo(0, 0);
    if (shown.top > 0 || shown.focus !== undefined) return comeBack(root, shown.top, shown.focus);
  }, [page]);
}

/**
 * Scrolls to the earlier position as soon as the page is long enough, and focuses the link that had the focus; returns a function
 * that stops this.
 */
function comeBack(root: HTMLElement, top: number, address: string | undefined): () => void {
  const settle = (): boolean => {
    const link = [...root.querySelectorAll("a")].find((one) => one.getAttribute("href") === address);
    if (document.activeElement === root) link?.focus({ preventScroll: true });
    scrollTo({ top, behavior: "instant" });
    return Math.abs(scrollY - top) < 2 && (address === undefined || link !== undefined);
  };
  const changed = new MutationObserver(() => settle() && stop());
  const late = setTimeout(() => stop(), PATIENCE_MS);
  const stop = (): void => {
    clearTimeout(late);
    changed.disconnect();
    for (const move of MOVES) removeEventListener(move, stop);
  };
  if (settle()) stop();
  else {
    for (const move of MOVES) addEventListener(move, stop);
    changed.observe(root, { subtree: true, childList: true });
  }
  return stop;
}
