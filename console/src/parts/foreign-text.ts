// Any text of the page may come from an agent, a caller or a card. Each text element detects its own writing direction. Characters that change the direction of
// the following text are replaced by their numbers: `photo[U+202E]gnp.exe` instead of a name that seems to end with `exe.png`. Texts to copy stay unchanged.
import { options, type VNode } from "preact";

/** Embeddings, overrides and isolates (UAX #9). Direction marks stay, since they affect only adjacent punctuation. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

const ELEMENTS = new Set("a b blockquote caption code dd del dt em h1 h2 h3 h4 h5 h6 input legend li option p pre small span strong summary td textarea th".split(" "));

/** The attributes that people see or that screen readers announce. */
const ATTRIBUTES = ["aria-label", "label", "placeholder", "title"];

/** The text with its direction-changing characters replaced by numbers. */
export function withoutTurns(text: string): string {
  return text.replace(TURNING, (found) => `[U+${found.charCodeAt(0).toString(16).toUpperCase()}]`);
}

const before = options.vnode;
options.vnode = (vnode: VNode) => {
  const { type, props } = vnode as { type: unknown; props: unknown };
  // A text node has its text in place of properties.
  if (type === null && typeof props === "string") (vnode as { props: unknown }).props = withoutTurns(props);
  if (typeof type === "string") {
    const given = props as Record<string, unknown>;
    for (const name of ATTRIBUTES) if (typeof given[name] === "string") given[name] = withoutTurns(given[name]);
    if (ELEMENTS.has(type)) given["dir"] ??= "auto";
  }
  before?.(vnode);
};
