// Tables in Markdown.

/** A table with aligned columns: the first to the left, figures to the right. */
export function tableOf(columns: string[], rows: string[][]): string {
  const widths = columns.map((_, index) => Math.max(3, ...[columns, ...rows].map((row) => row[index]?.length ?? 0)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0))).join(" | ")} |`;
  const rule = `|${widths.map((width, index) => (index === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [line(columns), rule, ...rows.map(line)].join("\n");
}
