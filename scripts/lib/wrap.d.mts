/** A Markdown text whose paragraphs and items of lists have lines of at most 120 characters, but for words that cannot be broken. */
export function wrapped(markdown: string): string;
