// A receiver of spans by OTLP/HTTP (JSON), as the Worker sends them.
import assert from "node:assert/strict";
import { until } from "./client.ts";
import { Sink } from "./sink.ts";

/** A received span. */
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  links: string[];
  hasFailed: boolean;
  begun: number;
  ended: number;
  attributes: Record<string, string>;
}

interface Sent {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { scope: { name: string; version: string }; spans: SentSpan[] }[] }[];
}
interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: string };
}
type SentSpan = Omit<Span, "links" | "hasFailed" | "begun" | "ended" | "attributes"> & {
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  links?: { traceId: string; spanId: string }[];
  status?: { code: number };
};

const valuesOf = (attributes: Attribute[]): Record<string, string> => Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? ""]));

/** A running receiver. */
export class Receiver {
  readonly sink: Sink;

  private constructor(sink: Sink) {
    this.sink = sink;
  }

  static async open(): Promise<Receiver> {
    return new Receiver(await Sink.open());
  }

  /** The URL for `OTLP_URL`. */
  get url(): string {
    return this.sink.url;
  }

  close(): void {
    this.sink.close();
  }

  /** The bodies of all requests so far, in one text. */
  get text(): string {
    return this.sink.arrivals("/v1").map(({ body }) => body).join("\n");
  }

  /** What the requests say about the server. */
  resources(): Record<string, string>[] {
    return this.#sent().map(({ resource }) => valuesOf(resource.attributes));
  }

  #sent(): Sent["resourceSpans"] {
    return this.sink.arrivals("/v1").flatMap((arrival) => arrival.json<Sent>().resourceSpans);
  }

  /** The spans so far, of one trace or of all. */
  spans(trace?: string): Span[] {
    const all = this.#sent().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
    return all.filter(({ traceId }) => trace === undefined || traceId === trace).map(({ startTimeUnixNano, endTimeUnixNano, attributes, links = [], status, ...span }) => ({
      ...span,
      links: links.map(({ spanId }) => spanId),
      hasFailed: status?.code === 2,
      begun: Number(startTimeUnixNano) / 1e6,
      ended: Number(endTimeUnixNano) / 1e6,
      attributes: valuesOf(attributes),
    }));
  }

  /** Waits until the spans of a trace have what is asked for. */
  until(trace: string, isWhole: (spans: Span[]) => boolean): Promise<Span[]> {
    return until(async () => this.spans(trace), isWhole);
  }
}

/** The headers of a client that records its trace, and the ids in them. */
export function clientTrace(isRecorded = true): { trace: string; span: string; headers: Record<string, string> } {
  const trace = crypto.randomUUID().replaceAll("-", "");
  const span = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
  return { trace, span, headers: { traceparent: `00-${trace}-${span}-${isRecorded ? "01" : "00"}` } };
}

/** The only span with this name, and perhaps these attributes. */
export function theSpan(spans: Span[], name: string, attributes: Record<string, string> = {}): Span {
  const found = spans.filter((span) => span.name === name && Object.entries(attributes).every(([key, value]) => span.attributes[key] === value));
  assert.equal(found.length, 1, `${name} in ${JSON.stringify(spans.map((span) => span.name))}`);
  return found[0] as Span;
}

/** Fails unless each span has its parent, up to the span of the client, and is not reported twice. */
export function assertConnected(spans: Span[], client?: string): void {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  assert.equal(ids.size, spans.length, "no span is reported twice");
  for (const { name, parentSpanId, links, begun, ended } of spans) {
    if (parentSpanId === undefined) assert.equal(client, undefined, `${name} begins a trace`);
    else assert.ok(ids.has(parentSpanId) || parentSpanId === client, `the parent of ${name} is missing`);
    for (const link of links) assert.ok(ids.has(link), `the span that ${name} continues is missing`);
    assert.ok(begun > 1e12 && ended >= begun, `${name} has its times`);
  }
}

/** The names of the spans below another one. */
export const below = (spans: Span[], parent: Span): string[] => spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId).map(({ name }) => name).sort();
