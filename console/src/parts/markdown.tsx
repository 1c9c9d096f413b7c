// Markdown as elements of the page. The words are those of agents: markup in them is shown as it is written, links are
// checked, and images are links, since loading one would tell others who reads.
import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { CopyButton } from "./copy.tsx";
import { OutLink, safeUrl } from "./link.tsx";
import "./content.css";

/** Deeper than this, quotes and lists are shown as they are written. */
const MAX_DEPTH = 12;

/** The text with its markdown. What cannot be read is shown as it is written. */
export function Markdown({ text }: { text: string }) {
  return useMemo(() => {
    const tokens = tokensOf(text);
    return tokens === undefined ? <p class="plain-text">{text}</p> : <div class="markdown">{withLevels(tokens).map((token, at) => block(token, at, 0))}</div>;
  }, [text]);
}

/** Whether a text that does not say so seems to be markdown. */
export function looksLikeMarkdown(text: string): boolean {
  const start = text.slice(0, 4000);
  return /^(#{1,6} \S|```|~~~|> \S|\|.+\|\s*$|\s*([-*+]|\d{1,3}\.) \S)/m.test(start) || /\*\*[^*\s][^*]*\*\*|`[^`\n]+`|\[[^\]\n]+\]\((https?|mailto):[^)\s]+\)/.test(start);
}

function tokensOf(text: string): Token[] | undefined {
  // Each mark of a quote or a list nests the reader of the text once more.
  if (/^[ \t]*([>*+-][ \t]*){60}/m.test(text)) return undefined;
  try {
    return new Lexer({ gfm: true, breaks: true }).lex(text);
  } catch {
    return undefined;
  }
}

/** The tokens with headings that have levels below that of the page's, and skip none on the way down, whatever the agent wrote. */
function withLevels(tokens: Token[]): Token[] {
  const above: number[] = [];
  return tokens.map((token) => {
    if (token.type !== "heading") return token;
    const depth = (token as Tokens.Heading).depth;
    while ((above.at(-1) ?? 0) >= depth) above.pop();
    above.push(depth);
    return { ...token, level: above.length + 1 } as Token;
  });
}

function block(token: Token, key: number, depth: number): ComponentChildren {
  const some = token as Tokens.Generic;
  const inner = (tokens: Token[] | undefined) =>
    depth >= MAX_DEPTH ? some.raw : (tokens ?? []).map((one, at) => block(one, at, depth + 1));
  switch (some.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      const Level = `h${Math.min(6, Number(some["level"] ?? 6))}` as "h2";
      return (
        <Level key={key} class={`depth-${String(some["depth"])}`}>
          {inline(some.tokens)}
        </Level>
      );
    }
    case "hr":
      return <hr key={key} />;
    case "code":
      return <Code key={key} text={String(some["text"] ?? "")} language={String(some["lang"] ?? "")} />;
    case "blockquote":
      return <blockquote key={key}>{inner(some.tokens)}</blockquote>;
    case "list": {
      const items = ((some as Tokens.List).items ?? []).map((item, at) => (
        <li key={at} class={item.task ? "todo" : undefined}>
          {item.task && <span aria-label={item.checked === true ? "done" : "to do"}>{item.checked === true ? "☑ " : "☐ "}</span>}
          {inner(item.tokens.filter(({ type }) => type !== "checkbox"))}
        </li>
      ));
      if ((some as Tokens.List).ordered) return <ol key={key} start={Number((some as Tokens.List).start) || 1}>{items}</ol>;
      return <ul key={key}>{items}</ul>;
    }
    case "table":
      return <Table key={key} of={some as Tokens.Table} />;
    case "paragraph":
      return <p key={key}>{inline(some.tokens)}</p>;
    case "text":
      return some.tokens === undefined ? <span key={key}>{decoded(some.raw)}</span> : <span key={key}>{inline(some.tokens)}</span>;
    default:
      return <p key={key} class="plain-text">{some.raw}</p>;
  }
}

function Code({ text, language }: { text: string; language: string }) {
  const name = language.split(/\s/)[0] ?? "";
  return (
    <div class="code">
      <div class="code-head">
        <span>{name === "" ? "Code" : name}</span>
        <CopyButton of={() => text} label="Copy the code" isBare />
      </div>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}

function Table({ of: { header, rows } }: { of: Tokens.Table }) {
  const align = (cell: Tokens.TableCell) => (cell.align === null ? {} : { style: { textAlign: cell.align } });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, at) => (
              <th key={at} scope="col" {...align(cell)}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column} {...align(cell)}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: Token[] | undefined, depth = 0): ComponentChildren {
  return (tokens ?? []).map((token, key) => {
    const some = token as Tokens.Generic;
    const inner = () => (depth >= MAX_DEPTH ? decoded(some.raw) : inline(some.tokens, depth + 1));
    switch (some.type) {
      case "strong":
        return <strong key={key}>{inner()}</strong>;
      case "em":
        return <em key={key}>{inner()}</em>;
      case "del":
        return <del key={key}>{inner()}</del>;
      case "codespan":
        return <code key={key}>{String(some["text"])}</code>;
      case "br":
        return <br key={key} />;
      case "link":
        return <OutLink key={key} url={decoded(String(some["href"]))}>{inner()}</OutLink>;
      case "image": {
        const url = decoded(String(some["href"]));
        const words = String(some["text"] ?? "") === "" ? url : decoded(String(some["text"]));
        return safeUrl(url) === undefined ? <span key={key}>{words}</span> : <OutLink key={key} url={url}>{`${words} (image)`}</OutLink>;
      }
      case "text":
        return some.tokens === undefined ? decoded(some.raw) : inner();
      case "escape":
        return String(some["text"]);
      default:
        return some.raw;
    }
  });
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", mdash: "—", ndash: "–", hellip: "…", copy: "©", rarr: "→", larr: "←" };

/** The text with its character references read: they become letters, never markup. */
function decoded(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex: string | undefined, decimal: string | undefined, name: string | undefined) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? String.fromCodePoint(point) : "\ufffd";
  });
}
