// A form from a JSON schema: for the arguments of tools, and for the questions of agents.
//
//     <SchemaForm schema={schema} label="Answer to the agent" action="Answer" submit={(value) => …} />
//
// It is checked before it is sent: what is wrong stands beside its field, and the first such field gets the focus. A schema that is no schema, or too
// large for a form, is answered with JSON. The agent checks the value, too: keywords that a form does not know are its own.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { base64Of, byteSize } from "../bytes.ts";
import { MAX_FILES_BYTES } from "../attachments.tsx";
import { JsonTree } from "../json.tsx";
import { check, type Entered } from "./check.ts";
import { FieldView, Members } from "./inputs.tsx";
import { fieldOf, type Field } from "./schema.ts";
import "./form.css";

export interface SchemaFormProps {
  /** Any value: it comes from an agent. */
  schema: unknown;
  /** The name of the form for screen readers. */
  label: string;
  /** The word on the button that sends. */
  action: string;
  /** Called with a value that has passed the check. */
  submit: (value: unknown) => void;
  /** True while a value is being sent. */
  isSending?: boolean;
  /** Further buttons, before the one that sends. */
  children?: ComponentChildren;
}

export function SchemaForm({ schema, label, action, submit, isSending = false, children }: SchemaFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const read = useMemo(() => fieldOf(schema), [schema]);
  const field = read ?? JSON_FIELD;
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const [attempts, setAttempts] = useState(0);
  // The first wrong field gets the focus after each attempt to send, also if it is the same as before.
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [attempts]);

  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    const shown = form.current;
    if (shown === null || isSending) return;
    const files = await filesIn(shown);
    const found = check(field, (path) => enteredIn(shown, path, files.contents));
    const all = new Map([...found.problems, ...files.problems]);
    setProblems(all);
    setAttempts((before) => before + 1);
    if (all.size === 0) submit(found.value);
  };
  // What is changed is not called wrong before the next attempt.
  const changed = ({ target }: Event) => {
    const { name } = target as HTMLInputElement;
    if (problems.has(name)) setProblems(new Map([...problems].filter(([path]) => path !== name)));
  };
  return (
    <form ref={form} class="schema-form" aria-label={label} noValidate onInput={changed} onSubmit={(event) => void send(event)}>
      {read === undefined && <p class="quiet">The schema of the answer is too large, or too unusual, for a form.</p>}
      {read !== undefined && field.description !== "" && <p dir="auto">{field.description}</p>}
      {field.of.kind !== "object" ? (
        <FieldView field={{ ...field, title: field.title === "" ? "Answer" : field.title, description: "" }} problems={problems} />
      ) : field.of.members.length === 0 ? (
        <p class="quiet">It needs no arguments.</p>
      ) : (
        <Members of={field.of.members} problems={problems} />
      )}
      {read === undefined && (
        <details>
          <summary>The schema</summary>
          <JsonTree value={schema} label="schema" />
        </details>
      )}
      <div class="actions">
        {problems.size > 0 && (
          <p class="field-problem form-problem" role="alert">
            {problems.size === 1 ? "One field is not right yet." : `${problems.size} fields are not right yet.`}
          </p>
        )}
        {children}
        <button type="submit" class="primary" disabled={isSending}>
          {action}
        </button>
      </div>
    </form>
  );
}

/** The field in place of a form. */
const JSON_FIELD: Field = { name: "", path: "answer", title: "Answer in JSON", description: "", isRequired: true, initial: undefined, of: { kind: "json", type: undefined } };

/** What the inputs of a field contain. */
function enteredIn(form: HTMLFormElement, path: string, files: ReadonlyMap<string, string>): Entered {
  const inputs = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>("[name]")].filter(({ name }) => name === path);
  const [first] = inputs;
  if (first instanceof HTMLInputElement && first.type === "checkbox") {
    return { text: "", chosen: inputs.flatMap((input) => ((input as HTMLInputElement).checked ? [Number(input.value)] : [])) };
  }
  return { text: files.get(path) ?? (first instanceof HTMLInputElement && first.type === "file" ? "" : (first?.value ?? "")), isUnreadable: first?.validity.badInput === true };
}

/** The chosen files in base64. */
async function filesIn(form: HTMLFormElement): Promise<{ contents: Map<string, string>; problems: Map<string, string> }> {
  const [contents, problems] = [new Map<string, string>(), new Map<string, string>()];
  let size = 0;
  for (const { name, files } of form.querySelectorAll<HTMLInputElement>("input[type=file][name]")) {
    const file = files?.[0];
    if (file === undefined) continue;
    size += file.size;
    if (size > MAX_FILES_BYTES) {
      problems.set(name, `A message takes ${byteSize(MAX_FILES_BYTES)} of files.`);
      continue;
    }
    try {
      contents.set(name, base64Of(new Uint8Array(await file.arrayBuffer())));
    } catch {
      problems.set(name, "The file cannot be read.");
    }
  }
  return { contents, problems };
}
