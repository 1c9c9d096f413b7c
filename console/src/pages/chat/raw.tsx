// The traffic as it was sent and received, and as code that repeats it.
import { useState } from "preact/hooks";
import { jsonIn } from "../../api/json-in.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Icon } from "../../parts/icon.tsx";
import { JsonTree } from "../../parts/json.tsx";
import type { Exchange, RawLog } from "./raw-log.ts";
import { callIn, curlOf, javascriptOf, masked, pythonOf } from "./snippets.ts";

/** How many of the newest answers of a request are shown at first. */
const SHOWN = 40;

export function RawPanel({ log, close }: { log: RawLog; close: () => void }) {
  const exchanges = log.exchanges.value;
  return (
    <aside class="raw" aria-label="Raw requests and events">
      <header>
        <h2>Raw</h2>
        <div class="row">
          <button type="button" class="small" disabled={exchanges.length === 0} onClick={() => log.clear()}>
            Clear
          </button>
          <button type="button" class="plain" aria-label="Close the raw requests" onClick={close}>
            <Icon name="close" />
          </button>
        </div>
      </header>
      {exchanges.length === 0 && <p class="quiet">Send a message to see what goes over the wire.</p>}
      <div class="raw-list" tabIndex={0} role="region" aria-label="Requests, the newest first">
        {exchanges.toReversed().map((one, at) => (
          <ExchangeView key={one.key} exchange={one} isFirst={at === 0} />
        ))}
      </div>
    </aside>
  );
}

function ExchangeView({ exchange: { request, answers, forgotten }, isFirst }: { exchange: Exchange; isFirst: boolean }) {
  const [isOpen, setOpen] = useState(isFirst);
  const [showsAll, setShowsAll] = useState(false);
  const call = callIn(request);
  const status = answers.find((seen) => seen.kind === "answer")?.status;
  const events = answers.filter(({ kind }) => kind === "event").length + forgotten;
  const shown = showsAll ? answers : answers.slice(-SHOWN);
  const javascript = call === undefined ? undefined : javascriptOf(call);
  const python = call === undefined ? undefined : pythonOf(call);
  return (
    <details class="exchange" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>{call?.operation ?? `${request.method} ${new URL(request.url).pathname}`}</strong>
        <span class="quiet">{[status === undefined ? "…" : String(status), events > 0 ? `${events} event${events === 1 ? "" : "s"}` : "", clock(request.at)].filter((text) => text !== "").join(" · ")}</span>
      </summary>
      {isOpen && (
        <div class="stack">
          <div class="row">
            <CopyButton of={() => curlOf(request)} label="curl" />
            {javascript !== undefined && <CopyButton of={() => javascript} label="JavaScript" />}
            {python !== undefined && <CopyButton of={() => python} label="Python" />}
          </div>
          <p class="mono">{`${request.method} ${request.url}`}</p>
          <pre tabIndex={0}>{request.headers.map(([name, value]) => `${name}: ${value}`).join("\n")}</pre>
          <Body text={masked(request.body)} label="request body" />
          {answers.length > shown.length && (
            <button type="button" class="small" onClick={() => setShowsAll(true)}>
              {`Show all ${answers.length}`}
            </button>
          )}
          <ol class="raw-events">
            {shown.map((seen, at) => (
              <li key={answers.length - shown.length + at + forgotten}>
                <span class="quiet mono">{[clock(seen.at), seen.kind === "event" ? `id ${seen.id === "" ? "—" : seen.id}` : seen.kind === "answer" ? `status ${seen.status}` : "end of the stream"].join(" · ")}</span>
                {seen.kind === "end" ? seen.error !== undefined && <span>{seen.error}</span> : <Body text={seen.kind === "event" ? seen.data : seen.body} label={seen.kind === "event" ? "event" : "answer"} />}
              </li>
            ))}
          </ol>
        </div>
      )}
    </details>
  );
}

/** A body: one line of its beginning, and the whole body as a tree when it is opened. */
function Body({ text, label }: { text: string; label: string }) {
  const [isOpen, setOpen] = useState(false);
  if (text === "") return null;
  const value = isOpen ? (jsonIn(text) ?? text) : undefined;
  return (
    <details class="raw-body" onToggle={(event) => (event.stopPropagation(), setOpen(event.currentTarget.open))}>
      <summary>
        <code>{text.slice(0, 160)}</code>
      </summary>
      {isOpen && <JsonTree value={value} label={label} />}
    </details>
  );
}

function clock(at: number): string {
  const time = new Date(at);
  return `${time.toLocaleTimeString(undefined, { hour12: false })}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}
