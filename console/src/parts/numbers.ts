// Whole numbers in words.

const numbers = new Intl.NumberFormat();

export const numberWord = (count: number): string => numbers.format(count);

/** For example `1 task` or `2 tasks`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numberWord(count)} ${count === 1 ? one : many}`;
}
