// Splits the output of cargo: progress is shown at once, diagnostics after the build.
import { plain } from "./process.mjs";

const PROGRESS_MS = 10_000;
const HEADER = /^(error|warning)(?:\[\w+\])?: /;
/** Ends a diagnostic without being a diagnostic itself: the summaries of rustc. */
const FOOTER = /^(?:For more information about|Some errors have detailed explanations)/;
/** A summary line, which only reports the number of diagnostics. */
const SUMMARY = /^(?:error: could not compile|error: aborting due to|warning: `.*` \(.*\) generated \d+ warning|warning: build failed)/;

/** True if a line is a status line or the progress bar of cargo: a verb that ends in column 12. */
export function isStatus(line) {
  return /^(?=.{12} ) *[A-Z][a-z]+ /.test(line) && /^[A-Z][a-z]+$/.test(line.slice(0, 12).trimStart());
}

/**
 * For `run`: passes cargo's status lines on to a terminal unchanged. Without a terminal, a long build reports every ten
 * seconds how many of its crates are compiled.
 */
export function progress(now = Date.now) {
  if (process.stdout.isTTY) return isStatus;
  let told = now();
  return (line) => {
    const bar = /^ +Building \[.*\] (\d+)\/(\d+)(?:: (.*))?/.exec(line);
    if (!bar || now() - told < PROGRESS_MS) return false;
    told = now();
    const [, done, all, names] = bar;
    return `    ${done} of ${all} crates${names ? `, now ${names.trim()}` : ""}\n`;
  };
}

/**
 * The results of a build: `errors` and `warnings`, each diagnostic once, as printed. A crate that is compiled for several purposes repeats its
 * diagnostics.
 */
export function diagnostics(printed) {
  const found = [];
  let open;
  for (const printedLine of printed.replace(/\r/g, "\n").split("\n")) {
    const line = plain(printedLine);
    const header = HEADER.exec(line);
    if (header) {
      open = { kind: header[1], title: line, lines: [] };
      found.push(open);
    } else if (isStatus(line) || FOOTER.test(line)) {
      open = undefined;
    }
    open?.lines.push(printedLine);
  }
  const texts = (kind) => {
    const told = found.filter((one) => one.kind === kind && !SUMMARY.test(one.title));
    const each = new Map(told.map(({ lines }) => [plain(lines.join("\n")).trim(), lines.join("\n").trim()]));
    return [...each.values()];
  };
  return { errors: texts("error"), warnings: texts("warning") };
}
