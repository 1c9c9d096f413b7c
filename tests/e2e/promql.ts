// The part of PromQL that docs/monitoring/ uses, over several scrapes of GET /metrics. Counters that become smaller are not expected and fail.
import assert from "node:assert/strict";
import type { Metrics } from "./metrics.ts";

/** What a server has answered at a time, in seconds. */
export interface Scrape {
  at: number;
  metrics: Metrics;
}

type Labels = Record<string, string>;
/** A value for each set of labels; a number alone is one without labels. */
export type Vector = { labels: Labels; value: number }[];
type Value = { scalar: number } | { vector: Vector };

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|("(?:[^"\\]|\\.)*")|([a-zA-Z_][a-zA-Z0-9_]*)|(\[\d+[smh]\])|(=~|!~|!=|>=|<=|==|[-+*/(){},=<>]))/gy;
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600 };
const keyOf = (labels: Labels): string => JSON.stringify(Object.entries(labels).sort());

/** The value of an expression after the last scrape. */
export function evaluate(expression: string, scrapes: Scrape[]): Vector {
  const value = new Parser(expression, scrapes).all();
  return "vector" in value ? value.vector : [{ labels: {}, value: value.scalar }];
}

class Parser {
  readonly #tokens: string[];
  readonly #scrapes: Scrape[];
  #next = 0;

  constructor(text: string, scrapes: Scrape[]) {
    this.#scrapes = scrapes;
    const found = [...text.matchAll(TOKEN)];
    assert.equal(found.map(([whole]) => whole).join(""), text.trimEnd(), `unknown characters in ${text}`);
    this.#tokens = found.map(([whole]) => whole.trim());
  }

  all(): Value {
    const value = this.#and();
    assert.equal(this.#next, this.#tokens.length, `what is ${this.#tokens[this.#next]}?`);
    return value;
  }

  #take(...wanted: string[]): string | undefined {
    const token = this.#tokens[this.#next] ?? "";
    if (!wanted.includes(token)) return undefined;
    this.#next += 1;
    return token;
  }

  #expect(token: string): void {
    assert.ok(this.#take(token) !== undefined, `${token} expected, got ${this.#tokens[this.#next]}`);
  }

  #and(): Value {
    let left = this.#comparison();
    while (this.#take("and") !== undefined) {
      const right = vectorOf(this.#comparison());
      const keys = new Set(right.map(({ labels }) => keyOf(labels)));
      left = { vector: vectorOf(left).filter(({ labels }) => keys.has(keyOf(labels))) };
    }
    return left;
  }

  #comparison(): Value {
    const left = this.#sum();
    const operator = this.#take(">", ">=", "<", "<=");
    if (operator === undefined) return left;
    const right = this.#sum();
    const holds = (a: number, b: number): boolean => ({ ">": a > b, ">=": a >= b, "<": a < b, "<=": a <= b })[operator] ?? false;
    return combined(vectorOf(left), right, (a, b) => (holds(a, b) ? a : undefined));
  }

  #sum(): Value {
    return this.#chain(() => this.#product(), { "+": (a, b) => a + b, "-": (a, b) => a - b });
  }

  #product(): Value {
    return this.#chain(() => this.#operand(), { "*": (a, b) => a * b, "/": (a, b) => a / b });
  }

  #chain(operand: () => Value, operators: Record<string, (a: number, b: number) => number>): Value {
    let left = operand();
    for (;;) {
      const operator = this.#take(...Object.keys(operators));
      if (operator === undefined) return left;
      const [apply, right] = [operators[operator] as (a: number, b: number) => number, operand()];
      if ("scalar" in left && "scalar" in right) left = { scalar: apply(left.scalar, right.scalar) };
      else if ("scalar" in left) left = { vector: vectorOf(right).map(({ labels, value }) => ({ labels, value: apply((left as { scalar: number }).scalar, value) })) };
      else left = combined(left.vector, right, apply);
    }
  }

  #operand(): Value {
    const token = this.#tokens[this.#next++] ?? "";
    if (token === "(") {
      const value = this.#and();
      this.#expect(")");
      return value;
    }
    if (/^\d/.test(token)) return { scalar: Number(token) };
    switch (token) {
      case "sum": return { vector: this.#aggregated() };
      case "increase":
      case "rate": {
        this.#expect("(");
        const { series, seconds } = this.#selected();
        this.#expect(")");
        assert.ok(seconds !== undefined, `${token} needs a range`);
        return { vector: increases(series).map(({ labels, value }) => ({ labels, value: token === "rate" ? value / seconds : value })) };
      }
      case "histogram_quantile": {
        this.#expect("(");
        const quantile = this.#operand();
        this.#expect(",");
        const value = { vector: quantiles("scalar" in quantile ? quantile.scalar : NaN, vectorOf(this.#and())) };
        this.#expect(")");
        return value;
      }
      default: {
        this.#next -= 1;
        const { series } = this.#selected();
        return { vector: series.flatMap(({ labels, samples }) => (samples.at(-1)?.isLast === true ? [{ labels, value: samples.at(-1)?.value ?? NaN }] : [])) };
      }
    }
  }

  #aggregated(): Vector {
    const by: string[] = [];
    if (this.#take("by") !== undefined) {
      this.#expect("(");
      while (this.#take(")") === undefined) {
        by.push(this.#tokens[this.#next++] ?? "");
        this.#take(",");
      }
    }
    this.#expect("(");
    const vector = vectorOf(this.#and());
    this.#expect(")");
    const sums = new Map<string, { labels: Labels; value: number }>();
    for (const { labels, value } of vector) {
      const kept = Object.fromEntries(by.flatMap((label) => (label in labels ? [[label, labels[label] ?? ""]] : [])));
      const sum = sums.get(keyOf(kept)) ?? { labels: kept, value: 0 };
      sums.set(keyOf(kept), { ...sum, value: sum.value + value });
    }
    return [...sums.values()];
  }

  /** A metric with its matchers, and the range behind it. */
  #selected(): { series: Series[]; seconds: number | undefined } {
    const name = this.#tokens[this.#next++] ?? "";
    const tests: ((labels: Labels) => boolean)[] = [];
    if (this.#take("{") !== undefined) {
      while (this.#take("}") === undefined) {
        const label = this.#tokens[this.#next++] ?? "";
        const operator = this.#tokens[this.#next++] ?? "";
        const wanted = JSON.parse(this.#tokens[this.#next++] ?? "") as string;
        const pattern = new RegExp(`^(?:${wanted})$`);
        const tested = { "=": (text: string) => text === wanted, "!=": (text: string) => text !== wanted, "=~": (text: string) => pattern.test(text), "!~": (text: string) => !pattern.test(text) }[operator];
        assert.ok(tested !== undefined, operator);
        tests.push((labels) => tested(labels[label] ?? ""));
        this.#take(",");
      }
    }
    const [, digits, unit] = /^\[(\d+)([smh])\]$/.exec(this.#tokens[this.#next] ?? "") ?? [];
    const seconds = digits === undefined ? undefined : Number(digits) * (SECONDS[unit ?? ""] ?? NaN);
    if (seconds !== undefined) this.#next += 1;
    const end = this.#scrapes.at(-1)?.at ?? 0;
    const series = new Map<string, Series>();
    let isKnown = false;
    for (const { at, metrics } of this.#scrapes) {
      isKnown ||= metrics.text.includes(`# TYPE ${name.replace(/_(bucket|sum|count)$/, "")} `) || metrics.text.includes(`# TYPE ${name} `);
      if (seconds !== undefined && at < end - seconds) continue;
      for (const { labels, value } of metrics.all(name).filter((line) => tests.every((fits) => fits(line.labels)))) {
        const one = series.get(keyOf(labels)) ?? { labels, samples: [] };
        one.samples.push({ value, isLast: at === end });
        series.set(keyOf(labels), one);
      }
    }
    assert.ok(isKnown, `there is no metric ${name}`);
    return { series: [...series.values()], seconds };
  }
}

interface Series {
  labels: Labels;
  samples: { value: number; isLast: boolean }[];
}

const vectorOf = (value: Value): Vector => ("vector" in value ? value.vector : [{ labels: {}, value: value.scalar }]);

/** Applies an operator to values with the same labels, or to all and a number. */
function combined(left: Vector, right: Value, apply: (a: number, b: number) => number | undefined): Value {
  const others = "vector" in right ? new Map(right.vector.map(({ labels, value }) => [keyOf(labels), value])) : undefined;
  const vector = left.flatMap(({ labels, value }) => {
    const other = "scalar" in right ? right.scalar : others?.get(keyOf(labels));
    const result = other === undefined ? undefined : apply(value, other);
    return result === undefined ? [] : [{ labels, value: result }];
  });
  return { vector };
}

/** How much counters have grown: as Prometheus, what was there before the first sample does not count. */
function increases(series: Series[]): Vector {
  return series.filter(({ samples }) => samples.length > 1).map(({ labels, samples }) => {
    const values = samples.map(({ value }) => value);
    assert.ok(values.every((value, nth) => nth === 0 || value >= (values[nth - 1] ?? 0)), `a counter became smaller: ${keyOf(labels)} ${values}`);
    return { labels, value: (values.at(-1) ?? 0) - (values[0] ?? 0) };
  });
}

function quantiles(quantile: number, buckets: Vector): Vector {
  const groups = new Map<string, { labels: Labels; bounds: { le: number; value: number }[] }>();
  for (const { labels: { le = "", ...labels }, value } of buckets) {
    const group = groups.get(keyOf(labels)) ?? { labels, bounds: [] };
    group.bounds.push({ le: le === "+Inf" ? Infinity : Number(le), value });
    groups.set(keyOf(labels), group);
  }
  return [...groups.values()].flatMap(({ labels, bounds }) => {
    bounds.sort((a, b) => a.le - b.le);
    const rank = quantile * (bounds.at(-1)?.value ?? 0);
    const nth = bounds.findIndex(({ value }) => value >= rank);
    const [below, found] = [bounds[nth - 1] ?? { le: 0, value: 0 }, bounds[nth]];
    if (found === undefined || bounds.at(-1)?.value === 0) return [];
    if (found.le === Infinity) return [{ labels, value: below.le }];
    return [{ labels, value: below.le + ((found.le - below.le) * (rank - below.value)) / Math.max(found.value - below.value, 1e-9) }];
  });
}
