// The composer of a message: its text, its files, its data, and its mode.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { AgentCard, Part } from "../../api/types.ts";
import type { Mode } from "../../api/follow.ts";
import { jsonIn } from "../../api/json-in.ts";
import { Choice } from "../../parts/choice.tsx";
import { Icon } from "../../parts/icon.tsx";
import { attached, Attachments, partOf, type Attachment } from "../../parts/attachments.tsx";
import type { Draft } from "./conversation.ts";
import { SchemaForm } from "../../parts/form/form.tsx";

const MODES: { mode: Mode; word: string }[] = [
  { mode: "stream", word: "Stream: events as they come" },
  { mode: "wait", word: "Wait for the answer" },
  { mode: "return", word: "Return at once, then look" },
];

export interface ComposerProps {
  card: AgentCard;
  schemas: Record<string, unknown>;
  /** The initial contents of the composer. */
  first: { text: string; skill: string };
  /** True while a message is being sent. */
  isSending: boolean;
  /** The state of the task that receives the message: it has asked a question, or works. */
  target: "asks" | "works" | undefined;
  /** Sends a message; resolves to true if it was accepted. */
  send: (draft: Draft) => Promise<boolean>;
}

export function Composer({ card, schemas, first, isSending, target, send }: ComposerProps) {
  const canStream = card.capabilities?.streaming === true;
  const [text, setText] = useState(first.text);
  const [skill, setSkill] = useState(first.skill);
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [data, setData] = useState<string>();
  const [mode, setMode] = useState<Mode>(canStream ? "stream" : "wait");
  const [modes, setModes] = useState<readonly string[]>([]);
  const [isNewTask, setNewTask] = useState(false);
  const [wrong, setWrong] = useState<string>();
  const [isOver, setOver] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);

  // Runs before the person can type; a later run would replace typed text.
  useLayoutEffect(() => {
    const value = dataIn(first.text);
    setText(value === undefined ? first.text : "");
    if (value !== undefined) setData(JSON.stringify(value, null, 2));
    setSkill(first.skill);
    if (first.text !== "") box.current?.focus();
  }, [first]);
  useEffect(() => {
    const shown = box.current;
    if (shown === null) return;
    shown.style.height = "auto";
    shown.style.height = `${Math.min(shown.scrollHeight + 2, 260)}px`;
  }, [text, skill]);

  const attach = async (chosen: Iterable<File>) => {
    try {
      setFiles(await attached(files, chosen));
      setWrong(undefined);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  const deliver = async (parts: Part[]) => {
    setWrong(undefined);
    const all = [...parts, ...files.map(partOf)];
    const isMeant = skill !== "" && target !== "asks" && schemas[skill] === undefined;
    const [hadText, hadFiles, hadData] = [text, files, data];
    setText("");
    setFiles([]);
    setData(undefined);
    const isTaken = await send({ parts: all, mode, acceptedOutputModes: [...modes], skill: isMeant ? skill : undefined, isNewTask: isNewTask && target !== undefined });
    if (isTaken) return setNewTask(false);
    setText(hadText);
    setFiles(hadFiles);
    setData(hadData);
  };
  const submit = () => {
    const parts: Part[] = text.trim() === "" ? [] : [{ text }];
    if (data !== undefined && data.trim() !== "") {
      try {
        parts.push({ data: JSON.parse(data) });
      } catch (error) {
        return setWrong(`The data is not JSON: ${error instanceof Error ? error.message : ""}`);
      }
    }
    if (parts.length === 0 && files.length === 0) {
      setWrong("Write something, or attach a file.");
      return box.current?.focus();
    }
    void deliver(parts);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!isSending) submit();
  };
  const schema = target === "asks" ? undefined : schemas[skill];
  const offered = [...new Set([...(card.defaultOutputModes ?? []), ...card.skills.flatMap(({ outputModes }) => outputModes ?? [])])];

  return (
    <div
      class={isOver ? "composer over" : "composer"}
      onDragOver={(event) => (event.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void attach(event.dataTransfer?.files ?? []);
      }}
    >
      {wrong !== undefined && (
        <p class="composer-wrong" role="alert">
          <Icon name="warning" />
          {wrong}
        </p>
      )}
      <Attachments files={files} remove={(at) => setFiles(files.filter((_, index) => index !== at))} />
      {schema !== undefined ? (
        <SchemaForm key={skill} schema={schema} label={`Arguments of ${skill}`} action="Call" isSending={isSending} submit={(value) => void deliver([{ data: { tool: skill, arguments: value } }])}>
          <button type="button" onClick={() => setSkill("")}>
            Write a message instead
          </button>
        </SchemaForm>
      ) : (
        <>
          {data !== undefined && (
            <label class="composer-data">
              Data (JSON)
              <textarea class="mono" rows={4} value={data} spellcheck={false} onInput={(event) => (setData(event.currentTarget.value), setWrong(undefined))} placeholder={'{"tool": "…", "arguments": {}}'} />
            </label>
          )}
          <div class="composer-row">
            <textarea
              ref={box}
              class="composer-text"
              rows={1}
              aria-label="Message"
              placeholder={target === "asks" ? "Answer the agent" : `Message ${card.name.slice(0, 40)}`}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
              onKeyDown={onKey}
              onPaste={(event) => {
                const pasted = [...(event.clipboardData?.files ?? [])];
                if (pasted.length > 0) void attach(pasted);
              }}
            />
            <button type="button" class="primary composer-send" disabled={isSending} onClick={submit} aria-label="Send" title="Send (Enter). Shift and Enter begin a new line.">
              <Icon name="send" />
            </button>
          </div>
        </>
      )}
      <div class="composer-tools">
        <button type="button" class="plain small" onClick={() => picker.current?.click()}>
          <Icon name="attach" />
          <span>Attach</span>
        </button>
        <input ref={picker} type="file" multiple hidden aria-label="Files to attach" tabIndex={-1} onChange={(event) => (void attach(event.currentTarget.files ?? []), (event.currentTarget.value = ""))} />
        {schema === undefined && (
          <button type="button" class="plain small" aria-pressed={data !== undefined} onClick={() => setData(data === undefined ? "" : undefined)}>
            <Icon name="plus" />
            <span>Data</span>
          </button>
        )}
        {target !== "asks" && card.skills.length > 0 && (
          <Choice name="Skill" class="composer-choice" value={skill} of={[["", "Any"], ...card.skills.map(({ id, name }) => [id, name] as const)]} choose={setSkill} />
        )}
        {target !== undefined && (
          <Choice
            name="To"
            class="composer-choice"
            value={isNewTask ? "new" : "task"}
            of={[["task", target === "asks" ? "The question" : "The running task"], ["new", "A new task"]]}
            choose={(to) => setNewTask(to === "new")}
          />
        )}
        <details class="composer-more">
          <summary>Options</summary>
          <div class="stack">
            <label>
              Send by
              <select value={mode} onChange={(event) => setMode(event.currentTarget.value as Mode)}>
                {MODES.map(({ mode: one, word }) => (
                  <option key={one} value={one} disabled={one === "stream" && !canStream}>
                    {one === "stream" && !canStream ? "Stream (the agent does not)" : word}
                  </option>
                ))}
              </select>
            </label>
            {offered.length > 0 && (
              <fieldset>
                <legend>Accept only</legend>
                {offered.map((type) => (
                  <label key={type} class="row">
                    <input type="checkbox" checked={modes.includes(type)} onChange={() => setModes(modes.includes(type) ? modes.filter((one) => one !== type) : [...modes, type])} />
                    {type}
                  </label>
                ))}
              </fieldset>
            )}
          </div>
        </details>
      </div>
    </div>
  );
}

/** The data in a text that is a JSON object, for example an example of a skill. */
function dataIn(text: string): unknown {
  return /^\s*\{.*\}\s*$/s.test(text) ? jsonIn(text) : undefined;
}
