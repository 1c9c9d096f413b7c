// The question of an agent, with the fields for the answer: a form if the question has a schema, a text, or credentials.
import { useId, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { CREDENTIALS_MEDIA_TYPE, type Message, type Part, type TaskState } from "../../api/types.ts";
import { isFormSchema } from "../../api/schemas.ts";
import { attached, Attachments, partOf, type Attachment } from "../attachments.tsx";
import { Icon } from "../icon.tsx";
import { SchemaForm } from "./form.tsx";
import "./form.css";

/** The schema of the requested answer, if a part of the message contains one. */
export function schemaIn(message: Message | undefined): unknown {
  return message?.parts.find((part) => isFormSchema(part.data))?.data;
}

export interface QuestionProps {
  /** `TASK_STATE_INPUT_REQUIRED` or `TASK_STATE_AUTH_REQUIRED`. */
  state: TaskState;
  /** The message of the task's status. */
  message: Message | undefined;
  /** Sends parts to the task with the question. */
  answer: (parts: Part[]) => void;
  isSending: boolean;
  /** True if the agent accepts files. */
  takesFiles: boolean;
  /** True if the page has a place of its own for an answer in text, as the chat. */
  hasComposer?: boolean;
  /** What is answered, for labels, on pages with several questions. */
  name?: string;
}

export function Question({ state, message, answer, isSending, takesFiles, hasComposer = false, name = "the agent" }: QuestionProps) {
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const schema = schemaIn(message);
  const withFiles = (parts: Part[]) => answer([...parts, ...files.map(partOf)]);
  const text = { key: message?.messageId, name, isSending };
  if (state === "TASK_STATE_AUTH_REQUIRED") {
    return (
      <>
        <Credentials name={name} answer={answer} isSending={isSending} />
        {!hasComposer && <TextAnswer {...text} answer={answer} placeholder="Say when you have signed in where the agent wants it" />}
      </>
    );
  }
  const attach = takesFiles && <Attach files={files} set={setFiles} />;
  if (schema === undefined) {
    if (hasComposer) return <p class="quiet">Answer below.</p>;
    return <TextAnswer {...text} answer={withFiles} attach={attach} hasFiles={files.length > 0} />;
  }
  const canDecline = message?.parts.some(({ text }) => text?.includes('{"action": "decline"}')) === true;
  return (
    <div class="question stack">
      <SchemaForm key={message?.messageId} schema={schema} label={`Answer to ${name}`} action="Answer" isSending={isSending} submit={(data) => withFiles([{ data }])}>
        {attach}
        {canDecline && (
          <button type="button" disabled={isSending} onClick={() => answer([{ data: { action: "decline" } }])}>
            Decline
          </button>
        )}
      </SchemaForm>
      {!hasComposer && (
        <details>
          <summary class="quiet">Answer in words</summary>
          <TextAnswer {...text} answer={withFiles} />
        </details>
      )}
    </div>
  );
}

interface TextProps {
  name: string;
  answer: (parts: Part[]) => void;
  isSending: boolean;
  placeholder?: string;
  attach?: ComponentChildren;
  hasFiles?: boolean;
}

/** An answer as a text. Enter sends; Shift and Enter begin a new line. */
function TextAnswer({ name, answer, isSending, placeholder, attach, hasFiles = false }: TextProps) {
  const [text, setText] = useState("");
  const [isMissing, setMissing] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const missing = useId();
  const submit = () => {
    if (isSending) return;
    const isEmpty = text.trim() === "" && !hasFiles;
    setMissing(isEmpty);
    if (isEmpty) return box.current?.focus();
    answer(text.trim() === "" ? [] : [{ text }]);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form class="schema-form question" aria-label={`Answer to ${name} in words`} noValidate onSubmit={(event) => (event.preventDefault(), submit())}>
      <label>
        <span>
          Answer<span class="sr">{` to ${name}`}</span>
        </span>
        <textarea ref={box} rows={2} value={text} placeholder={placeholder} aria-invalid={isMissing} aria-describedby={isMissing ? missing : undefined} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={onKey} />
      </label>
      {isMissing && (
        <p id={missing} class="field-problem" role="alert">
          Write something first.
        </p>
      )}
      <div class="actions">
        {attach}
        <button type="submit" class="primary" disabled={isSending}>
          {isSending ? "Sending…" : "Answer"}
        </button>
      </div>
    </form>
  );
}

/** Files that go with the answer. */
function Attach({ files, set }: { files: readonly Attachment[]; set: (files: readonly Attachment[]) => void }) {
  const picker = useRef<HTMLInputElement>(null);
  const [wrong, setWrong] = useState<string>();
  const add = async (chosen: readonly File[]) => {
    try {
      set(await attached(files, chosen));
      setWrong(undefined);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      {wrong !== undefined && (
        <p class="field-problem form-problem" role="alert">
          {wrong}
        </p>
      )}
      <Attachments files={files} remove={(at) => set(files.filter((_, index) => index !== at))} />
      <button type="button" onClick={() => picker.current?.click()}>
        <Icon name="attach" />
        <span>Attach</span>
      </button>
      <input ref={picker} type="file" multiple hidden aria-label="Files to attach" tabIndex={-1} onChange={(event) => (void add([...(event.currentTarget.files ?? [])]), (event.currentTarget.value = ""))} />
    </>
  );
}

/** Credentials for a service that the agent calls: a part that is not stored with the message (docs/calling.md). */
function Credentials({ name: to, answer, isSending }: { name: string; answer: (parts: Part[]) => void; isSending: boolean }) {
  const [name, setName] = useState("token");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const value = new FormData(form).get("value");
    if (typeof value !== "string" || value === "") return;
    form.reset();
    answer([{ mediaType: CREDENTIALS_MEDIA_TYPE, data: { [name]: value } }]);
  };
  return (
    <details class="question">
      <summary>Send credentials</summary>
      <form class="schema-form" aria-label={`Credentials for ${to}`} onSubmit={submit}>
        <p class="quiet">For an agent that asks for a member of credentials, as a2a-edge's do. They are kept out of the conversation. Others want a message.</p>
        <div class="field-pair">
          <label>
            Name
            <input value={name} required autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <label>
            Value
            <input name="value" type="password" required autocomplete="off" />
          </label>
        </div>
        <div class="actions">
          <button type="submit" class="primary" disabled={isSending}>
            Send credentials
          </button>
        </div>
      </form>
    </details>
  );
}
