// A JSON value as a tree with branches that open and close.
import { useContext, useState } from "preact/hooks";
import { CopyButton } from "./copy.tsx";
import { Whose } from "./whose.ts";
import "./content.css";

/** The number of members of a branch that are shown at first, and added each time. */
const PAGE = 100;
/** Branches with more members than this are closed at first, except for the outermost. */
const OPEN_MEMBERS = 12;
const OPEN_DEPTH = 3;
/** The number of characters shown of a text in the tree; the copy contains all. */
const SHOWN_LETTERS = 2000;

/** `label` is the name of the tree for screen readers. */
export function JsonTree({ value, label = "JSON" }: { value: unknown; label?: string }) {
  const whose = useContext(Whose);
  return (
    <div class="json" role="group" aria-label={label}>
      <div class="json-tree" tabIndex={0} role="region" aria-label={`${label}${whose}, as a tree`}>
        <Branch value={value} depth={0} />
      </div>
      <CopyButton of={() => JSON.stringify(value, null, 2)} label={`Copy ${label}`} isBare />
    </div>
  );
}

function Branch({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const members = membersOf(value);
  const [isOpen, setOpen] = useState(depth === 0 || (depth < OPEN_DEPTH && (members?.length ?? 0) <= OPEN_MEMBERS));
  const [shown, setShown] = useState(PAGE);
  const key = name === undefined ? null : <span class="json-key">{name}: </span>;
  if (members === undefined || members.length === 0) {
    return (
      <div class="json-leaf">
        {key}
        <Leaf value={value} />
      </div>
    );
  }
  const isList = Array.isArray(value);
  return (
    <details open={isOpen} onToggle={(event) => (event.stopPropagation(), setOpen(event.currentTarget.open))}>
      <summary>
        {key}
        <span class="json-size">{isList ? `[ ${members.length} ]` : `{ ${members.length} }`}</span>
      </summary>
      {isOpen && (
        <div class="json-members">
          {members.slice(0, shown).map(([member, of]) => (
            <Branch key={member} name={member} value={of} depth={depth + 1} />
          ))}
          {members.length > shown && (
            <button type="button" class="small" onClick={() => setShown(shown + PAGE)}>
              {`Show ${Math.min(PAGE, members.length - shown)} more of ${members.length}`}
            </button>
          )}
        </div>
      )}
    </details>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string") {
    const cut = value.length > SHOWN_LETTERS ? `${value.slice(0, SHOWN_LETTERS)}… (${value.length} letters)` : value;
    return <span class="json-text">{JSON.stringify(cut)}</span>;
  }
  if (typeof value === "object" && value !== null) return <span>{Array.isArray(value) ? "[]" : "{}"}</span>;
  return <span class="json-word">{String(value)}</span>;
}

function membersOf(value: unknown): [string, unknown][] | undefined {
  return typeof value === "object" && value !== null ? Object.entries(value) : undefined;
}
