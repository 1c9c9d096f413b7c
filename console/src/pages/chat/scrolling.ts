// Scrolls with the end of the conversation, unless the person reads further up.
import { useEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** The distance from its end at which a page counts as scrolled to the end. */
const NEAR_PX = 120;

/**
 * Follows the end as soon as the conversation has begun. `isAway`: the person reads further up, and there is more below. `toEnd` scrolls
 * to the end, and follows again.
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
      // A page that has grown does not count as scrolled by the person.
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
