// The palette: one field that finds pages, agents, skills, saved views and tasks, and goes there.
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { MAX_TEXT } from "../api/tasks.ts";
import { Dialog } from "../parts/dialog.tsx";
import { go, href } from "../route.ts";
import { foundHere, foundTasks, MIN_TEXT, type Found, type FoundTasks, type Pages } from "./found.ts";
import { opened } from "./keys.ts";

/** The pause after the last letter before the agents are asked. */
const PAUSE_MS = 250;

/** What the agents have found for a text; `of` without the rest while they are asked. */
interface Asked {
  of: string;
  found?: FoundTasks;
}

export function Palette({ pages, close }: { pages: Pages; close: () => void }) {
  const [text, setText] = useState("");
  const [asked, setAsked] = useState<Asked>({ of: "" });
  const [at, setAt] = useState(0);
  const list = useId();
  const sought = text.trim();
  useEffect(() => {
    if (sought.length < MIN_TEXT) return setAsked({ of: sought });
    const over = new AbortController();
    const timer = setTimeout(() => {
      foundTasks(sought, over.signal).then((found) => over.signal.aborted || setAsked({ of: sought, found }), () => undefined);
    }, PAUSE_MS);
    return () => (clearTimeout(timer), over.abort());
  }, [sought]);
  const here = useMemo(() => foundHere(sought, pages), [sought, pages]);
  const found = asked.of === sought ? asked.found : undefined;
  const isAsking = sought.length >= MIN_TEXT && found === undefined;
  const inList: Found[] = sought.length < MIN_TEXT ? [] : [{ kind: "Page", title: `All tasks with “${sought.slice(0, MAX_TEXT)}”`, detail: "The list of tasks", href: href(["tasks"], { text: sought.slice(0, MAX_TEXT) }) }];
  const all = [...here, ...(found?.tasks ?? []), ...inList];
  const active = Math.min(at, all.length - 1);
  const choose = (chosen: Found | undefined) => {
    if (chosen === undefined) return;
    close();
    go(chosen.href);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const next = ({ ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: all.length - 1 } as Record<string, number>)[event.key];
    if (event.key === "Enter") choose(all[active]);
    else if (next === undefined || ((event.key === "Home" || event.key === "End") && text !== "")) return;
    else setAt((next + all.length) % Math.max(1, all.length));
    event.preventDefault();
  };
  useEffect(() => document.getElementById(`${list}-${active}`)?.scrollIntoView({ block: "nearest" }), [active, list]);
  return (
    <Dialog title="Find" close={close}>
      <div class="palette">
        <input
          type="text"
          role="combobox"
          aria-label="Find pages, agents, skills, views and tasks"
          aria-expanded={all.length > 0}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={all.length > 0 ? `${list}-${active}` : undefined}
          placeholder="A page, an agent, a skill, an id, or words of a task"
          autocomplete="off"
          spellcheck={false}
          autofocus
          maxLength={MAX_TEXT}
          value={text}
          onInput={(event) => (setText(event.currentTarget.value), setAt(0))}
          onKeyDown={onKey}
        />
        <ul id={list} role="listbox" aria-label="Found">
          {all.map((one, index) => (
            <li
              key={`${one.kind} ${one.href}`}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === active}
              onPointerMove={() => index !== active && setAt(index)}
              onClick={() => choose(one)}
            >
              <span class="found-kind quiet">{one.kind}</span>
              <span class="found-title"><bdi>{one.title}</bdi></span>
              <span class="found-detail quiet"><bdi>{one.detail}</bdi></span>
            </li>
          ))}
        </ul>
        <p class="quiet" role="status">
          {toldOf(all.length, isAsking, found)}
        </p>
        <p class="row quiet">
          <span>
            <kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> goes there
          </span>
          <button type="button" class="plain small" onClick={() => (opened.value = "keys")}>
            All keys
          </button>
        </p>
      </div>
    </Dialog>
  );
}

/** The number of results, and what was not searched. */
function toldOf(count: number, isAsking: boolean, found: FoundTasks | undefined): string {
  const told = [count === 1 ? "1 result" : `${count} results`];
  if (isAsking) told.push("the tasks are searched");
  for (const { agent, size } of found?.bounded ?? []) told.push(`of ${agent} only the newest ${size} tasks were searched`);
  if (found !== undefined && found.failed.length > 0) told.push(`no answer from ${found.failed.join(", ")}`);
  return `${told.join("; ")}.`;
}
