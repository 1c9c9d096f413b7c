// Markdown as elements of the page. The texts come from agents: HTML in them is shown as text, links are checked, and images
// become links, since loading an image would reveal the reader to its server.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { CopyButton } from "./copy.tsx";
import { OutLink, safeUrl } from "./link.tsx";
import { tokensOf, type Block, type Cell, type Inline } from "./markdown-tokens.ts";
import "./content.css";

/** The rendered markdown of a text. Syntax that is not supported is shown as text. */
export function Markdown({ text }: { text: string }) {
  return useMemo(() => <div class="markdown">{withLevels(tokensOf(text)).map(block)}</div>, [text]);
}

/** True if a text without a media type seems to be markdown. */
export function looksLikeMarkdown(text: string): boolean {
  const start = text.slice(0, 4000);
  return /^(#{1,6} \S|```|~~~|> \S|\|.+\|\s*$|\s*([-*+]|\d{1,3}\.) \S)/m.test(start) || /\*\*[^*\s][^*]*\*\*|`[^`\n]+`|\[[^\]\n]+\]\((https?|mailto):[^)\s]+\)/.test(start);
}

/** The tokens with heading levels below that of the page, and without gaps between the levels, whatever levels the agent wrote. */
function withLevels(tokens: Block[]): Block[] {
  const above: number[] = [];
  return tokens.map((token) => {
    if (token.type !== "heading") return token;
    while ((above.at(-1) ?? 0) >= token.depth) above.pop();
    above.push(token.depth);
    return { ...token, level: above.length + 1 };
  });
}

function block(token: Block, key: number): ComponentChildren {
  switch (token.type) {
    case "heading": {
      const Level = `h${Math.min(6, token.level ?? 6)}` as "h2";
      return (
        <Level key={key} class={`depth-${token.depth}`}>
          {inline(token.tokens)}
        </Level>
      );
    }
    case "hr":
      return <hr key={key} />;
    case "code":
      return <Code key={key} text={token.text} language={token.lang} />;
    case "blockquote":
      return <blockquote key={key}>{token.tokens.map(block)}</blockquote>;
    case "list": {
      const items = token.items.map(({ tokens, checked }, at) => (
        <li key={at} class={checked === undefined ? undefined : "todo"}>
          {checked !== undefined && (
            <span role="img" aria-label={checked ? "done" : "to do"}>
              {checked ? "☑ " : "☐ "}
            </span>
          )}
          {tokens.map(block)}
        </li>
      ));
      return token.ordered ? (
        <ol key={key} start={token.start}>
          {items}
        </ol>
      ) : (
        <ul key={key}>{items}</ul>
      );
    }
    case "table":
      return <Table key={key} of={token} />;
    case "paragraph":
      return <p key={key}>{inline(token.tokens)}</p>;
    case "line":
      return <span key={key}>{inline(token.tokens)}</span>;
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

function Table({ of: { header, rows } }: { of: Block & { type: "table" } }) {
  const align = (cell: Cell) => (cell.align === undefined ? {} : { style: { textAlign: cell.align } });
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

function inline(tokens: Inline[]): ComponentChildren {
  return tokens.map((token, key) => {
    switch (token.type) {
      case "strong":
        return <strong key={key}>{inline(token.tokens)}</strong>;
      case "em":
        return <em key={key}>{inline(token.tokens)}</em>;
      case "del":
        return <del key={key}>{inline(token.tokens)}</del>;
      case "codespan":
        return <code key={key}>{token.text}</code>;
      case "br":
        return <br key={key} />;
      case "link":
        return <Link key={key} url={decoded(token.href)} words={wordsOf(token.tokens)}>{inline(token.tokens)}</Link>;
      case "image": {
        const url = decoded(token.href);
        const words = token.text === "" ? url : decoded(token.text);
        return safeUrl(url) === undefined ? <span key={key}>{words}</span> : <Link key={key} url={url} words={words}>{`${words} (image)`}</Link>;
      }
      case "escape":
        return token.text;
      case "text":
        return decoded(token.text);
    }
  });
}

/** A link with the host or the mailbox of its target, unless its text is exactly that. */
function Link({ url, words, children }: { url: string; words: string; children: ComponentChildren }) {
  const to = new URL(safeUrl(url) ?? "about:blank");
  const place = to.protocol === "mailto:" ? to.pathname : to.host;
  const isTold = place === "" || words === place || (words === url && to.username === "");
  return (
    <OutLink url={url}>
      {children}
      {!isTold && <span class="leads-to">{` (${place})`}</span>}
    </OutLink>
  );
}

/** The text of tokens without markdown. */
function wordsOf(tokens: Inline[]): string {
  return tokens.map((token) => ("tokens" in token ? wordsOf(token.tokens) : "text" in token ? decoded(token.text) : "")).join("");
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", mdash: "—", ndash: "–", hellip: "…", copy: "©", rarr: "→", larr: "←" };

/** The text with its character references replaced: they become characters, never HTML. */
function decoded(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex: string | undefined, decimal: string | undefined, name: string | undefined) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? String.fromCodePoint(point) : "\ufffd";
  });
}
