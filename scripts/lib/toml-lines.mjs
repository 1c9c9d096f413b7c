// Changes of single lines of a TOML file, which leave all other lines and comments as they are.

/**
 * The text after an edit, as `missing` of config.mjs describes it: sets the keys of `lines` in a table, or removes them (`removes`), or appends the lines as
 * a new table (`isNew`). `table` is the line of its header, or "" for the keys before the first table; `whose` a line that the table has, if there are several
 * of this name. Undefined if the file has no such place.
 */
export function edited(text, { table, whose, isNew, removes }, lines) {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const all = text.split(/\r?\n/);
  if (isNew) return [...trimmed(all), ...(text.trim() === "" ? [] : [""]), ...lines, ""].join(eol);
  const place = table === undefined ? undefined : region(all, table, whose);
  if (place === undefined) return undefined;
  let { end } = place;
  for (const line of lines) {
    const found = statement(all, place.begin, end, keyOf(line));
    if (found === undefined && removes) return undefined;
    const at = found ?? { begin: lastOf(all, place.begin, end), length: 0 };
    all.splice(at.begin, at.length, ...(removes ? [] : [line]));
    end += (removes ? 0 : 1) - at.length;
  }
  return all.join(eol);
}

/** The lines of a table, behind its header. */
function region(all, table, whose) {
  const isHeader = (line) => /^\s*\[/.test(line);
  const endOf = (begin) => {
    const next = all.findIndex((line, index) => index >= begin && isHeader(line) && !isInside(all, index));
    return next === -1 ? all.length : next;
  };
  if (table === "") return { begin: 0, end: endOf(0) };
  const begins = all.flatMap((line, index) => (squeezed(line) === squeezed(table) ? [index + 1] : []));
  const begin = begins.find((one) => whose === undefined || all.slice(one, endOf(one)).some((line) => squeezed(line) === squeezed(whose)));
  return begin === undefined ? undefined : { begin, end: endOf(begin) };
}

/** True if a line is part of an array that an earlier line opens. */
function isInside(all, index) {
  for (let begin = 0; begin < index; begin += 1) {
    if (keyOf(all[begin]) === undefined) continue;
    const { length } = extent(all, begin, all.length);
    if (begin + length > index) return true;
    begin += length - 1;
  }
  return false;
}

/** Where a key is set among some lines, and how many lines its value has. */
function statement(all, begin, end, key) {
  const index = all.findIndex((line, at) => at >= begin && at < end && keyOf(line) === key);
  return index === -1 ? undefined : extent(all, index, end);
}

/** The lines of a statement: an array goes on until its brackets are closed. */
function extent(all, begin, end) {
  for (let depth = 0, index = begin; index < end; index += 1) {
    const bare = all[index].replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, "").replace(/#.*/, "");
    depth += (bare.match(/[[{]/g) ?? []).length - (bare.match(/[\]}]/g) ?? []).length;
    if (depth <= 0) return { begin, length: index - begin + 1 };
  }
  return { begin, length: 1 };
}

/** Behind the last line of a region that is not empty. A comment above the next header belongs to that. */
function lastOf(all, begin, end) {
  let index = end;
  while (index > begin && /^\s*(?:#.*)?$/.test(all[index - 1])) index -= 1;
  return index;
}

const keyOf = (line) => /^\s*("[^"]*"|[\w.-]+)\s*=/.exec(line)?.[1];

/** A line without its spaces and its comment. */
const squeezed = (line) => line.replace(/("[^"]*")|\s|#.*/g, "$1");

function trimmed(all) {
  const end = all.findLastIndex((line) => line.trim() !== "");
  return all.slice(0, end + 1);
}
