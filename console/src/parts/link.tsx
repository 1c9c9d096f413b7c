// Links that come from agents.
import type { ComponentChildren } from "preact";

/** The URL, if its scheme is that of a page or a mailbox; undefined for any other, for example `javascript:`. */
export function safeUrl(text: string): string | undefined {
  try {
    const url = new URL(text);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** A link out of the console if the URL is safe, otherwise only its text. */
export function OutLink({ url, children }: { url: string; children?: ComponentChildren }) {
  const safe = safeUrl(url);
  if (safe === undefined) return <span>{children ?? url}</span>;
  return (
    <a href={safe} target="_blank" rel="noreferrer noopener">
      {children ?? url}
    </a>
  );
}
