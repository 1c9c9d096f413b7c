// Numbers in words.

const numbers = new Intl.NumberFormat();
const large = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const small = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });

export const numberWord = (count: number): string => numbers.format(count);

/** For example `1 task` or `2 tasks`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numberWord(count)} ${count === 1 ? one : many}`;
}

/** A cost in units of its currency; a dash where nobody has told a cost. */
export function costWord(micros: number): string {
  if (micros === 0) return "–";
  return (micros >= 1e6 ? large : small).format(micros / 1e6);
}
