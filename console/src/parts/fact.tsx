// A name with its value, in a list of facts.
import type { ComponentChildren } from "preact";

/** An entry of a `dl`; nothing if the value is empty. */
export function Fact({ name, isWide = false, children }: { name: string; isWide?: boolean; children: ComponentChildren }) {
  if (children === "") return null;
  return (
    <div class={isWide ? "fact-wide" : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
