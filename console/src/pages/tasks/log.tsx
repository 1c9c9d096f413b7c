// The log of a task: the entries of its timeline, with filters and navigation.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import type { Entry, Head } from "../../api/timeline.ts";
import { Choice } from "../../parts/choice.tsx";
import { go, href, place } from "../../route.ts";
import { hasFailed } from "./failed.ts";
import { GroupView } from "./entries.tsx";
import { groupsOf } from "./groups.ts";
import type { LiveTimeline } from "./live.ts";

/** The filters of the log. */
const KINDS: Record<string, { word: string; fits: (entry: Entry) => boolean }> = {
  said: { word: "States and messages", fits: ({ kind }) => ["task", "status", "message"].includes(kind) },
  steps: { word: "Steps", fits: ({ kind }) => ["step", "usage"].includes(kind) },
  artifacts: { word: "Artifacts", fits: ({ kind }) => kind === "artifact" },
  waits: { word: "Waits and callbacks", fits: ({ kind }) => ["taken", "parked", "woken", "ended", "callback", "called"].includes(kind) },
  webhooks: { word: "Attempts to reach webhooks", fits: ({ kind }) => kind === "webhookAttempt" },
  failures: { word: "Failures", fits: hasFailed },
};

/** With fewer entries there is no navigation. */
const FEW = 10;

/** True if the address shows the log, and not the trace. */
export const showsLog = (query: URLSearchParams): boolean => query.get("view") === "log" || query.has("show");

export function Log({ timeline, head }: { timeline: LiveTimeline; head: Head }) {
  const { path, query } = place.value;
  const kind = query.get("show") ?? "";
  const fits = KINDS[kind]?.fits;
  const entries = timeline.entries.value;
  const shown = useMemo(() => (fits === undefined ? entries : entries.filter((entry) => fits(entry))), [entries, kind]);
  const groups = useMemo(() => groupsOf(fits === undefined ? entries : entries.filter((entry) => entry.kind === "run" || fits(entry))), [entries, kind]);
  const isReading = timeline.earlier.value === "reading";
  // A filter applies to all entries, so all are loaded.
  useEffect(() => {
    if (fits !== undefined) void timeline.readEarlier({ pages: Infinity });
  }, [timeline, kind]);
  const { place: list, told, lead } = useWays(timeline, fits === undefined);
  useMarked(list, query.get("entry"), entries.length > 0);
  const choose = (show: string) => go(href(path, { ...Object.fromEntries(query), view: "log", show, entry: undefined }), { replace: true });
  return (
    <section class="stack timeline-page" aria-label="Log" ref={list}>
      <div class="row timeline-head">
        <h2>Log</h2>
        {(entries.length >= FEW || timeline.earlier.value !== "none" || fits !== undefined) && (
          <>
            <Choice name="Show" class="row" value={kind} of={[["", "Everything"], ...Object.entries(KINDS).map(([name, { word }]) => [name, word] as const)]} choose={choose} />
            <button type="button" class="small" disabled={isReading} onClick={() => lead("first")}>
              First entry
            </button>
            <button type="button" class="small" disabled={isReading} onClick={() => lead("failure")}>
              Next failure
            </button>
            <span class="quiet" role="status">
              {isReading ? "Loading…" : told !== "" ? told : fits === undefined ? "" : `${shown.length} of ${entries.length} entries`}
            </span>
          </>
        )}
      </div>
      {timeline.earlier.value !== "none" && (
        <button type="button" disabled={isReading} onClick={() => void timeline.readEarlier({ pages: 1 })}>
          {isReading ? "Loading…" : "Show earlier entries"}
        </button>
      )}
      <ol class="timeline">
        {groups.map((group, at) =>
          fits !== undefined && group.items.length + group.attempts.length === 0 ? null : (
            <GroupView key={`${kind} ${group.key}`} group={group} underWay={fits === undefined && at === groups.length - 1 ? head.underWay : []} isOpen={fits !== undefined} />
          ),
        )}
      </ol>
      {shown.length === 0 && !isReading && <p class="empty">There is no entry of this kind.</p>}
    </section>
  );
}

/** Marks the entry that the address names (`placeOf`); one that is folded is among the failures. */
function useMarked(list: RefObject<HTMLElement | null>, entry: string | null, isRead: boolean): void {
  useEffect(() => {
    if (entry === null || !isRead || list.current === null) return;
    const all = [...list.current.querySelectorAll<HTMLElement>(".entry")];
    const found = all.find((row) => row.dataset["at"] === entry) ?? all.findLast((row) => row.classList.contains("bad"));
    for (const row of all) row.removeAttribute("aria-current");
    found?.setAttribute("aria-current", "true");
    found?.scrollIntoView({ block: "center" });
  }, [entry, isRead]);
}

/**
 * Navigation in the log. After all entries are loaded, scrolls to the first entry, or to the next failure; after the last failure
 * the first one follows. `told` is the announced position.
 */
function useWays(timeline: LiveTimeline, hasAll: boolean) {
  const list = useRef<HTMLElement>(null);
  const failure = useRef<Element | undefined>(undefined);
  const [wish, setWish] = useState<"first" | "failure">();
  const [told, setTold] = useState("");
  const { value: earlier } = timeline.earlier;
  useEffect(() => {
    if (wish === undefined || earlier === "reading" || list.current === null) return;
    setWish(undefined);
    // The entries could not be loaded; the page shows the reason.
    if (earlier === "some") return;
    failure.current?.removeAttribute("aria-current");
    if (wish === "first") {
      failure.current = undefined;
      setTold(`From the first of ${timeline.entries.value.length} entries`);
      return list.current.scrollIntoView();
    }
    const failures = [...list.current.querySelectorAll(".entry.bad")];
    const { current } = failure;
    const isBehind = (one: Element) => current?.isConnected === true && (current.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
    const next = failures.find(isBehind) ?? failures[0];
    failure.current = next;
    setTold(next === undefined ? (hasAll ? "Nothing has failed" : "No failure of this kind") : `Failure ${failures.indexOf(next) + 1} of ${failures.length}`);
    next?.setAttribute("aria-current", "true");
    next?.scrollIntoView({ block: "center" });
  }, [wish, earlier]);
  const lead = (to: "first" | "failure"): void => {
    setWish(to);
    void timeline.readEarlier({ pages: Infinity });
  };
  return { place: list, told, lead };
}
