// Plots as SVG without a library, readable on light and on dark pages.

/** A plot above a table. */
export interface Plot {
  /** The file in docs/, without its extension. */
  name: string;
  /** A description for screen readers. */
  alt: string;
  svg: string;
}

/** The colours of the entrants, in order; each contrasts with white and with black. */
const COLOURS = ["#d9622b", "#3b82c4", "#7d8590", "#3f9c5a"];

const STYLE =
  "text{font:12px system-ui,sans-serif;fill:#57606a}.strong{font-weight:600}.axis{stroke:#8c959f;stroke-opacity:.45}.goal{stroke:#57606a;stroke-width:2}" +
  "@media(prefers-color-scheme:dark){text{fill:#b1bac4}.goal{stroke:#e6edf3}}";

/** One group of bars. */
export interface Group {
  title: string;
  /** A bar for each entrant; NaN if it has no value. */
  values: number[];
  /** The position of a mark. */
  goal?: number;
}

const WIDTH = 860;
const LEFT = 340;
const BAR = 13;

/** Groups of horizontal bars from 0, each with its value at the end; `unit` follows the values. */
export function bars(names: string[], groups: Group[], unit: string): string {
  const most = Math.max(...groups.flatMap(({ values, goal = 0 }) => [...values.filter((value) => !Number.isNaN(value)), goal]));
  const x = (value: number): number => LEFT + (value / most) * (WIDTH - LEFT - 70);
  const parts = [legend(names)];
  let y = 40;
  for (const { title, values, goal } of groups) {
    const shown = values.map((value, index) => ({ value, index })).filter(({ value }) => !Number.isNaN(value));
    const height = shown.length * (BAR + 3);
    parts.push(label(LEFT - 10, y + height / 2 + 2, title, "end"));
    shown.forEach(({ value, index }, line) => {
      const top = y + line * (BAR + 3);
      parts.push(`<rect x="${LEFT}" y="${top}" width="${fixed(x(value) - LEFT)}" height="${BAR}" rx="2" fill="${COLOURS[index]}"/>`);
      parts.push(label(x(value) + 6, top + BAR - 2, `${short(value)}${unit}`, "start", index === 0));
    });
    if (goal !== undefined) parts.push(`<line class="goal" x1="${fixed(x(goal))}" x2="${fixed(x(goal))}" y1="${y - 4}" y2="${y + height + 1}"/>`);
    y += height + 18;
  }
  parts.push(`<line class="axis" x1="${LEFT}" x2="${LEFT}" y1="32" y2="${y - 10}"/>`);
  return picture(WIDTH, y, parts);
}

/** One line of a diagram: points in the order of x. */
export interface Line {
  name: string;
  points: [number, number][];
}

/** Lines over linear axes that begin at 0; `titles` are the titles of the axes. */
export function lines(all: Line[], titles: [string, string]): string {
  const [left, top, right, bottom] = [56, 40, WIDTH - 20, 300];
  const most = (axis: 0 | 1): number => Math.max(...all.flatMap(({ points }) => points.map((point) => point[axis])));
  const [mostX, mostY] = [most(0), most(1)];
  const x = (value: number): number => left + (value / mostX) * (right - left);
  const y = (value: number): number => bottom - (value / mostY) * (bottom - top);
  const parts = [legend(all.map(({ name }) => name))];
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const [atX, atY] = [x(part * mostX), y(part * mostY)];
    parts.push(`<line class="axis" x1="${left}" x2="${right}" y1="${fixed(atY)}" y2="${fixed(atY)}"/>`);
    parts.push(label(left - 8, atY + 4, short(part * mostY), "end"), label(atX, bottom + 18, short(part * mostX), "middle"));
  }
  all.forEach(({ points }, index) => {
    const path = points.map(([at, value]) => `${fixed(x(at))},${fixed(y(value))}`).join(" ");
    parts.push(`<polyline points="${path}" fill="none" stroke="${COLOURS[index]}" stroke-width="2.5" stroke-linejoin="round"/>`);
  });
  parts.push(label((left + right) / 2, bottom + 38, titles[0], "middle"), label(left, top - 10, titles[1], "middle"));
  return picture(WIDTH, bottom + 50, parts);
}

function legend(names: string[]): string {
  let x = LEFT;
  return names
    .map((name, index) => {
      const at = x;
      x += 34 + name.length * 7;
      return `<rect x="${at}" y="8" width="12" height="12" rx="2" fill="${COLOURS[index]}"/>${label(at + 18, 18, name, "start")}`;
    })
    .join("");
}

function label(x: number, y: number, text: string, anchor: "start" | "middle" | "end", isStrong = false): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}"${isStrong ? ' class="strong"' : ""}>${escaped}</text>`;
}

function picture(width: number, height: number, parts: string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">\n<style>${STYLE}</style>\n${parts.join("\n")}\n</svg>\n`;
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function short(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}
