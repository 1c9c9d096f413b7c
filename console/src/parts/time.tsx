// Instants and durations in readable form.
import { signal } from "@preact/signals";
import { agoOf } from "./instant.ts";

export { agoOf, duration } from "./instant.ts";

/** The current time, updated every second while the page is visible. */
export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 1000);

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** An instant relative to now, with the exact time as a tooltip. Accepts ms since 1970 or RFC 3339. */
export function Time({ at }: { at: number | string | undefined | null }) {
  const ms = typeof at === "string" ? Date.parse(at) : at;
  if (ms === undefined || ms === null || Number.isNaN(ms)) return <span class="quiet">unknown</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={exact.format(ms)}>
      {agoOf(ms, now.value)}
    </time>
  );
}
