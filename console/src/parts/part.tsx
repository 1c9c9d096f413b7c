// The parts of messages and artifacts, each rendered by its kind.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { joinedTexts } from "../api/fold.ts";
import { jsonIn } from "../api/json-in.ts";
import type { Part } from "../api/types.ts";
import { byteSize, bytesOf, fileName, save, useObjectUrl, utf8Of } from "./bytes.ts";
import { CopyButton } from "./copy.tsx";
import { Icon } from "./icon.tsx";
import { JsonTree } from "./json.tsx";
import { OutLink } from "./link.tsx";
import { looksLikeMarkdown, Markdown } from "./markdown.tsx";
import { hostOf } from "./words.ts";
import "./content.css";

/** Longer texts are shown without markdown, in a box that scrolls. */
const MAX_MARKDOWN = 100_000;
/**
 * Each new chunk makes the whole markdown be parsed again. From this length on, rendering a growing text takes at most this part of the
 * time.
 */
const CALM_LETTERS = 8192;
const CALM_PART = 8;
/** The distance from its end at which a box counts as scrolled to the end. */
const NEAR_PX = 60;
/** The number of characters in a piece of a long text: an appended chunk changes only the last piece. */
const PIECE = 16_384;
/** Text files up to this size are shown, in addition to the button for saving. */
const MAX_SHOWN_FILE = 256 * 1024;

/** Parts in order; consecutive text parts are joined, since chunks may be cut anywhere. With `isLive`, more may follow. */
export function Parts({ parts, isLive = false }: { parts: readonly Part[]; isLive?: boolean }) {
  return (
    <>
      {joinedTexts(parts).map((part, at) => (
        <PartView key={at} part={part} isLive={isLive} />
      ))}
    </>
  );
}

export function PartView({ part, isLive = false }: { part: Part; isLive?: boolean }) {
  const { text, raw, url, data, filename, mediaType } = part;
  if (typeof text === "string") return <TextView text={text} mediaType={mediaType} filename={filename} isLive={isLive} />;
  if (typeof raw === "string") return <FileView raw={raw} filename={filename} mediaType={mediaType} />;
  if (typeof url === "string") {
    return (
      <p class="file">
        <Icon name="external" />
        <span class="file-name">
          <OutLink url={url}>{filename ?? url}</OutLink>
        </span>
        <span class="quiet">{[mediaType, filename === undefined ? undefined : hostOf(url)].filter((one) => one !== undefined).join(" · ")}</span>
      </p>
    );
  }
  if (data !== undefined) return <JsonTree value={data} label={filename ?? "data"} />;
  return <p class="quiet">An empty part</p>;
}

function TextView({ text, mediaType, filename, isLive }: { text: string; mediaType: string | undefined; filename: string | undefined; isLive: boolean }) {
  const isMarked = mediaType === undefined || mediaType === "text/plain" ? looksLikeMarkdown(text) : /^text\/(x-)?markdown\b/i.test(mediaType);
  const isShort = text.length <= MAX_MARKDOWN;
  const [isSource, setSource] = useState(false);
  const value = useMemo(() => (mediaType !== undefined && /[/+]json\b/i.test(mediaType) && !isLive ? jsonIn(text) : undefined), [text, mediaType, isLive]);
  return (
    <div class="text">
      {filename !== undefined && <p class="quiet">{filename}</p>}
      {value !== undefined ? (
        <JsonTree value={value} label={filename ?? "JSON"} />
      ) : isMarked && isShort && !isSource ? (
        <CalmMarkdown text={text} isLive={isLive} />
      ) : (
        <LongText text={text} isLive={isLive} />
      )}
      {isMarked && isShort && !isLive && (
        <button type="button" class="plain small text-source" aria-pressed={isSource} onClick={() => setSource(!isSource)}>
          Source
        </button>
      )}
    </div>
  );
}

/** Markdown that is rendered while its chunks arrive; a long text less often. */
function CalmMarkdown({ text, isLive }: { text: string; isLive: boolean }) {
  const [drawn, setDrawn] = useState(text);
  const isCalm = isLive && text.length > CALM_LETTERS;
  const latest = useRef(text);
  latest.current = text;
  const begun = performance.now();
  const shown = isCalm ? drawn : text;
  useEffect(() => {
    if (!isCalm) return;
    const timer = setTimeout(() => setDrawn(latest.current), CALM_PART * (performance.now() - begun));
    return () => clearTimeout(timer);
  }, [isCalm, drawn, isCalm && drawn === text]);
  return <Markdown text={shown} />;
}

/** A text without markdown; a long text is in a box that scrolls, in pieces of which the browser lays out only the visible ones. */
export function LongText({ text, isLive = false }: { text: string; isLive?: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(isLive);
  useLayoutEffect(() => {
    if (isLive && follows.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  // The person may have scrolled up.
  const scrolled = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: { currentTarget: HTMLElement }) => (follows.current = scrollHeight - scrollTop - clientHeight < NEAR_PX);
  if (text.length <= PIECE) return <p class="plain-text">{text}</p>;
  const pieces = [];
  for (let at = 0; at < text.length; at += PIECE) pieces.push(<Piece key={at} text={text.slice(at, at + PIECE)} />);
  return (
    <div>
      <div ref={box} class="long-text" tabIndex={0} role="region" aria-label="Long text" onScroll={scrolled}>
        {pieces}
      </div>
      <div class="row">
        <span class="quiet">{`${text.length.toLocaleString()} letters`}</span>
        <CopyButton of={() => text} label="Copy the text" />
        <button type="button" class="small" onClick={() => save(text, "text.txt")}>
          <Icon name="down" />
          <span>Save</span>
        </button>
      </div>
    </div>
  );
}

function Piece({ text }: { text: string }) {
  return useMemo(() => <div class="long-piece">{text}</div>, [text]);
}

function FileView({ raw, filename, mediaType }: { raw: string; filename: string | undefined; mediaType: string | undefined }) {
  const bytes = useMemo(() => bytesOf(raw), [raw]);
  const type = mediaType?.split(";")[0]?.trim().toLowerCase() ?? "";
  const name = fileName(filename ?? `file${endingOf(type)}`);
  if (bytes === undefined) return <p class="quiet">{`${name}: the bytes cannot be read, they are no base64`}</p>;
  return (
    <figure class="media">
      <Seen bytes={bytes} raw={raw} type={type} name={name} />
      <figcaption class="file">
        <Icon name="file" />
        <span class="file-name">{name}</span>
        <span class="quiet">{[mediaType, byteSize(bytes.length)].filter((one) => one !== undefined).join(" · ")}</span>
        <button type="button" class="small" aria-label={`Save ${name}`} onClick={() => save(bytes, name)}>
          Save
        </button>
      </figcaption>
    </figure>
  );
}

/** The displayable contents of a file: an image, sound, video or text. */
function Seen({ bytes, raw, type, name }: { bytes: Uint8Array<ArrayBuffer>; raw: string; type: string; name: string }) {
  const isMedia = /^(image\/(png|jpe?g|gif|webp|avif|bmp)|audio\/.+|video\/.+)$/.test(type);
  const url = useObjectUrl(isMedia ? bytes : undefined, type);
  const text = useMemo(() => (/^text\/|[/+](json|xml|yaml|toml)$|javascript$/.test(type) && type !== "image/svg+xml" && bytes.length <= MAX_SHOWN_FILE ? utf8Of(bytes) : undefined), [bytes, type]);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p class="quiet">The browser cannot show it.</p>;
  const broken = () => setBroken(true);
  // A drawing is shown by a data URL: if opened by itself, it would otherwise be a page of this origin.
  if (type === "image/svg+xml") return <img src={`data:image/svg+xml;base64,${raw.replace(/\s+/g, "")}`} alt={name} onError={broken} />;
  if (text !== undefined) return <TextView text={text} mediaType={type} filename={undefined} isLive={false} />;
  if (url === undefined) return null;
  if (type.startsWith("audio/")) return <audio controls src={url} aria-label={name} onError={broken} />;
  if (type.startsWith("video/")) return <video controls src={url} aria-label={name} onError={broken} />;
  return <img src={url} alt={name} onError={broken} />;
}

/** The text of all parts, for a message in one line. */
export function textOf(parts: readonly Part[]): string {
  return joinedTexts(parts)
    .map(({ text, data, filename, url, raw }) => text ?? (data !== undefined ? JSON.stringify(data) : filename ?? url ?? (raw === undefined ? "" : "file")))
    .join(" ");
}

function endingOf(type: string): string {
  const [, known] = /^(?:image|audio|video|text|application)\/(?:x-)?(png|jpeg|gif|webp|mpeg|mp4|webm|wav|ogg|csv|html|pdf|json|zip|xml)\b/.exec(type) ?? [];
  return known === undefined ? "" : `.${known}`;
}
