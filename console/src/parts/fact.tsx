// A name and what belongs to it, in a list of such.
import type { ComponentChildren } from "preact";

/** For a `dl`; nothing where there is nothing to say. */
export function Fact({ name, isWide = false, children }: { name: string; isWide?: boolean; children: ComponentChildren }) {
  if (children === "") return null;
  return (
    <div class={isWide ? "fact-wide" : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
