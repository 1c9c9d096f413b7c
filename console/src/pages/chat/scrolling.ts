// The page follows the end of the conversation, unless the person reads further up.
import { useEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** So far from its end a page still counts as being there. */
const NEAR_PX = 120;

/**
 * Follows once something was said. `isAway`: the person reads further up, and there is more below. `toEnd` goes there, and follows again.
 */
export function useFollowedEnd(end: RefObject<HTMLElement | null>, hasBegun: boolean): { isAway: boolean; toEnd: () => void } {
  const [isAway, setAway] = useState(false);
  const [follows] = useState(() => ({ now: true, height: 0 }));
  const page = document.documentElement;
  const isNear = () => page.scrollHeight - innerHeight - scrollY < NEAR_PX;
  const toEnd = () => {
    follows.now = true;
    setAway(false);
    scrollTo({ top: page.scrollHeight, behavior: "instant" });
  };
  useEffect(() => {
    const content = end.current?.parentElement;
    if (content === null || content === undefined || !hasBegun) return;
    const grown = new ResizeObserver(() => {
      if (follows.now) scrollTo({ top: page.scrollHeight, behavior: "instant" });
      else setAway(!isNear());
      follows.height = page.scrollHeight;
    });
    const scrolled = () => {
      // A page that has grown moves nobody: the person does.
      if (page.scrollHeight === follows.height || isNear()) follows.now = isNear();
      setAway(!isNear());
    };
    grown.observe(content);
    addEventListener("scroll", scrolled, { passive: true });
    return () => {
      grown.disconnect();
      removeEventListener("scroll", scrolled);
    };
  }, [hasBegun]);
  return { isAway, toEnd };
}
