// The rows of the shown lists: each has one link with `data-row`, between which keys move the focus.

/** Moves the focus to the next row, or with -1 to the one before; from elsewhere to the first, or the last. Returns false if there is none. */
export function stepRow(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")].filter((row) => row.checkVisibility());
  const place = document.activeElement?.closest("tr, li, article") ?? undefined;
  const at = rows.findIndex((row) => row === document.activeElement || (place !== undefined && place.contains(row)));
  const next = at < 0 ? rows.at(step === 1 ? 0 : -1) : rows[at + step];
  next?.focus();
  return next !== undefined;
}
