// Days and numbers in words.

const days = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

/** For example `Jan 5`. */
export const dayWord = (day: string): string => days.format(Date.parse(day));

/** For example `1.5M`. */
export const shortNumber = (count: number): string => short.format(count);
