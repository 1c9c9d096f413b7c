// Numbers in words.
import { computed } from "@preact/signals";
import { currency } from "../api/currency.ts";

const numbers = new Intl.NumberFormat();
const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

export const numberWord = (count: number): string => numbers.format(count);

/** For example `1 task` or `2 tasks`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numberWord(count)} ${count === 1 ? one : many}`;
}

/** A part of a whole in percent; a dash if there is no whole. */
export const percentWord = (part: number | undefined): string => (part === undefined ? "–" : percents.format(part));

/** The form of costs with this many decimal places. A format takes longer to make than to use. */
const costsWith = (minimumFractionDigits: number, maximumFractionDigits: number) =>
  computed(() => {
    const style = currency.value === undefined ? {} : { style: "currency" as const, currency: currency.value };
    return new Intl.NumberFormat(undefined, { ...style, minimumFractionDigits, maximumFractionDigits });
  });
const large = costsWith(2, 2);
const small = costsWith(0, 6);

/** A cost, with its currency where the deployment tells one: two decimal places from 1 on, below it up to six. A dash where nobody has told a cost. */
export function costWord(micros: number): string {
  if (micros === 0) return "–";
  return (micros >= 1e6 ? large : small).value.format(micros / 1e6);
}

/** A cost in a sentence, as `cost 0.0012`; empty where nobody has told one. */
export const costText = ({ costMicros }: { costMicros: number }): string => (costMicros > 0 ? `cost ${costWord(costMicros)}` : "");
