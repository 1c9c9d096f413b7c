// Metrics in the text format of Prometheus.
import assert from "node:assert/strict";

/** A sample. */
export interface Line {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** What `GET /metrics` has answered. */
export class Metrics {
  readonly text: string;
  readonly lines: Line[];

  /** Fails if a line has another form. */
  constructor(text: string) {
    this.text = text;
    this.lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).map((line) => {
      const [, name = "", labels = "", value] = /^([a-z_][a-z0-9_]*)\{(.*)\} (-?[\d.e+]+)$/.exec(line) ?? assert.fail(line);
      const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)",?/g)].map(([, label = "", text = ""]) => [label, text.replace(/\\(["\\])/g, "$1")]);
      return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
    });
  }

  static async read(url: string, headers: Record<string, string> = {}): Promise<Metrics> {
    const response = await fetch(`${url}/metrics`, { headers });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return new Metrics(text);
  }

  /** The samples with this name and at least these labels. */
  all(name: string, labels: Record<string, string> = {}): Line[] {
    return this.lines.filter((line) => line.name === name && Object.entries(labels).every(([label, value]) => line.labels[label] === value));
  }

  /** The value of the sample with this name and these labels, if there is one. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    return this.all(name, labels)[0]?.value;
  }

  /** The agents of all samples. */
  agents(): Set<string> {
    return new Set(this.lines.map(({ labels }) => labels["agent"] ?? ""));
  }
}
