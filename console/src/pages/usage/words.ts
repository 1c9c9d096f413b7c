// Days and costs in words.

const days = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const large = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const small = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });

/** For example `Jan 5`. */
export const dayWord = (day: string): string => days.format(Date.parse(day));

/** For example `1.5M`. */
export const shortNumber = (count: number): string => short.format(count);

/** A cost in units of its currency; a dash where nobody has told a cost. */
export function costWord(micros: number): string {
  if (micros === 0) return "–";
  return (micros >= 1e6 ? large : small).format(micros / 1e6);
}
