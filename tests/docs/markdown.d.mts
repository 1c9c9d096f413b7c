/** A fenced code block. */
export interface Block {
  path: string;
  /** The line of its fence, from 1. */
  line: number;
  /** The language that it names. */
  lang: string;
  text: string;
  /** The last line of prose before it. */
  before: string;
  /** Why it is not run, if it is not. */
  skip: string | undefined;
  next: Block | undefined;
}

export interface Page {
  path: string;
  text: string;
  blocks: Block[];
}

export const root: string;
export function pages(): Page[];

export function readPage(path: string): Page;
