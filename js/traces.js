// The spans of this isolate, until they are sent to the receiver of the deployment by OTLP/HTTP (JSON). Nothing waits for that: a request's answer
// does not, and a receiver that is slow or gone costs spans, not memory. They are never repeated; what was lost is counted in the log.
import { tracing } from "cloudflare:workers";
import { goOn } from "./background.js";

/** @type {{ url: string, headers: Headers, before: string, after: string } | undefined} */
let receiver;

/** The spans that wait, as JSON. @type {string[]} */
const spans = [];

/** The number of spans that were lost and not reported yet, and the reason of the last loss. */
let lost = 0;
let reason = "";

/** The instant at which the next loss may be reported. */
let reportAt = 0;

/** Before this instant somebody is going to send the spans; after it, the platform has ended the request that was to do so. */
let sentBy = 0;

/**
 * Names the receiver of spans, and what it is told about this instance.
 *
 * @param {string} url @param {string} headers the secret `OTLP_HEADERS`, which `unfitHeaders` has found fit
 * @param {string} service @param {string} version
 */
export function beginTraces(url, headers, service, version) {
  const told = { "service.name": service, "service.version": version, "service.instance.id": crypto.randomUUID(), "cloud.provider": "cloudflare" };
  const attributes = Object.entries(told).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const empty = JSON.stringify({ resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope: { name: "a2a-edge", version }, spans: [] }] }] });
  const end = empty.lastIndexOf("[]") + 1;
  const fields = new Headers({ "content-type": "application/json" });
  for (const [name, value] of pairsOf(headers)) fields.set(name, value);
  receiver = { url, headers: fields, before: empty.slice(0, end), after: empty.slice(end) };
}

/**
 * What is wrong with headers in the form `name=value,name=value` with `%XX` in values (OpenTelemetry's `OTEL_EXPORTER_OTLP_HEADERS`), without
 * their values; empty text if nothing is.
 *
 * @param {string} headers
 */
export function unfitHeaders(headers) {
  try {
    pairsOf(headers).forEach((pair) => new Headers([pair]));
    return "";
  } catch {
    return "the secret OTLP_HEADERS must be a list such as x-api-key=abc,authorization=Basic%20abc, with %XX for special characters in values";
  }
}

/** @param {string} headers @returns {[string, string][]} */
function pairsOf(headers) {
  const entries = headers.split(",").map((entry) => entry.trim()).filter((entry) => entry !== "");
  return entries.map((entry) => {
    const end = entry.indexOf("=");
    if (end < 1) throw new TypeError("not a pair");
    return [entry.slice(0, end).trim(), decodeURIComponent(entry.slice(end + 1).trim())];
  });
}

/**
 * Tells the platform's own span of the request under way what the request was about, for the platform's dashboard.
 *
 * @param {string} subject the text of src/front/subject.rs
 */
export function nameRequest(subject) {
  const span = tracing?.getActiveSpan?.();
  if (!span?.isTraced || subject === "") return;
  const [agent, operation, , task] = subject.split("\u001e");
  for (const [key, value] of Object.entries({ "gen_ai.agent.name": agent, "a2a.method.name": operation, "a2a.task.id": task })) {
    if (value) span.setAttribute(key, value);
  }
}

/** Keeps a span, and has it sent soon. @param {string} span */
export function keepSpan(span) {
  if (spans.length >= MOST_KEPT) return lose(1, `more than ${MOST_KEPT} wait`);
  spans.push(span);
  const now = Date.now();
  const isFull = spans.length % BATCH === 0;
  if (now < sentBy && !isFull) return;
  sentBy = now + 2 * PAUSE_MS;
  goOn(sendAll(isFull ? 0 : PAUSE_MS));
}

/** @param {number} pauseMs */
async function sendAll(pauseMs) {
  if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  sentBy = 0;
  while (spans.length > 0) await send(spans.splice(0, BATCH));
  report();
}

/** @param {string[]} batch */
async function send(batch) {
  if (receiver === undefined) return;
  const { url, headers, before, after } = receiver;
  const end = new AbortController();
  // Not `AbortSignal.timeout`: its timer would keep an object in memory after the answer.
  const timer = setTimeout(() => end.abort(), TIMEOUT_MS);
  try {
    const body = `${before}${batch.join(",")}${after}`;
    const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: end.signal });
    await answer.body?.cancel();
    if (!answer.ok) lose(batch.length, `the receiver answered ${answer.status}`);
  } catch {
    lose(batch.length, end.signal.aborted ? `no answer within ${TIMEOUT_MS} ms` : "the receiver was not reached");
  } finally {
    clearTimeout(timer);
  }
}

/** @param {number} count @param {string} why */
function lose(count, why) {
  lost += count;
  reason = why;
}

/** Reports lost spans, at most once a minute. */
function report() {
  const now = Date.now();
  if (lost === 0 || now < reportAt) return;
  console.error(JSON.stringify({ event: "spans lost", count: lost, reason }));
  lost = 0;
  reportAt = now + REPORT_MS;
}

/** The largest number of spans that wait, each of at most a few kilobytes. */
const MOST_KEPT = 2_000;

/** The largest number of spans in a request. */
const BATCH = 200;

/** The time for which spans are collected. */
const PAUSE_MS = 1_000;

/** The longest time for one request. */
const TIMEOUT_MS = 10_000;

const REPORT_MS = 60_000;
