// The inputs of a form, each by the kind of its field. Their contents are those of the page: they are read when the form is sent.
import { useId } from "preact/hooks";
import type { Field, Kind } from "./schema.ts";

interface FieldProps {
  field: Field;
  /** What is wrong, by the paths of fields. */
  problems: ReadonlyMap<string, string>;
}

export function Members({ of, problems }: { of: readonly Field[]; problems: FieldProps["problems"] }) {
  return (
    <>
      {of.map((field) => (
        <FieldView key={field.path} field={field} problems={problems} />
      ))}
    </>
  );
}

export function FieldView({ field, problems }: FieldProps) {
  const id = useId();
  const { of, path, title, description, isRequired } = field;
  const problem = problems.get(path);
  const hints = [description, hintOf(of)].filter((text) => text !== "");
  const described = {
    "aria-describedby": hints.length === 0 && problem === undefined ? undefined : [...(hints.length > 0 ? [`${id}-hint`] : []), ...(problem === undefined ? [] : [`${id}-problem`])].join(" "),
    "aria-invalid": problem !== undefined,
  };
  const hint = hints.length > 0 && <Hint id={`${id}-hint`} texts={hints} />;
  const wrong = problem !== undefined && (
    <p id={`${id}-problem`} class="field-problem">
      {problem}
    </p>
  );
  const name = (
    <>
      <bdi>{title}</bdi> {!isRequired && <span class="optional">optional</span>}
    </>
  );
  if (of.kind === "object") {
    return (
      <fieldset aria-describedby={hints.length > 0 ? `${id}-hint` : undefined}>
        <legend>{name}</legend>
        {hint}
        <Members of={of.members} problems={problems} />
      </fieldset>
    );
  }
  if (of.kind === "choices") {
    const chosen = (Array.isArray(field.initial) ? (field.initial as unknown[]) : []).map(canonical);
    return (
      <fieldset aria-describedby={described["aria-describedby"]}>
        <legend>{name}</legend>
        {hint}
        <div class="row">
          {of.options.map(({ value, word }, at) => (
            <label key={at} class="row">
              <input type="checkbox" name={path} value={at} defaultChecked={chosen.includes(canonical(value))} aria-invalid={problem !== undefined && at === 0 ? true : undefined} />
              <bdi>{word}</bdi>
            </label>
          ))}
        </div>
        {wrong}
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label>
        <span>{name}</span>
        <Input field={field} of={of} described={{ ...described, "aria-required": isRequired }} />
      </label>
      {hint}
      {wrong}
    </div>
  );
}

function Hint({ id, texts }: { id: string; texts: readonly string[] }) {
  return (
    <small id={id} dir="auto">
      {texts.join(" ")}
    </small>
  );
}

type Described = { "aria-describedby": string | undefined; "aria-invalid": boolean; "aria-required": boolean };

function Input({ field: { path, initial, isRequired }, of, described }: { field: Field; of: Exclude<Kind, { kind: "object" | "choices" }>; described: Described }) {
  const common = { name: path, ...described };
  switch (of.kind) {
    case "choice": {
      const wanted = initial === undefined ? undefined : canonical(initial);
      const at = isRequired && of.options.length === 1 ? 0 : of.options.findIndex(({ value }) => canonical(value) === wanted);
      return (
        <select {...common} defaultValue={at < 0 ? "" : String(at)}>
          <option value="">{isRequired ? "Choose…" : "Not given"}</option>
          {of.options.map(({ word }, index) => (
            <option key={index} value={index}>
              {word}
            </option>
          ))}
        </select>
      );
    }
    case "number":
      return <input type="number" inputMode={of.isInteger ? "numeric" : "decimal"} step={of.isInteger ? 1 : "any"} defaultValue={typeof initial === "number" ? String(initial) : ""} {...common} />;
    case "text": {
      const value = typeof initial === "string" ? (of.input === "datetime-local" ? localTime(initial) : initial) : "";
      if (of.input === "long") return <textarea rows={3} defaultValue={value} {...common} />;
      return <input type={of.input as "text"} autocomplete="off" step={of.input === "datetime-local" ? "any" : undefined} defaultValue={value} {...common} />;
    }
    case "file":
      return <input type="file" accept={of.accept} {...common} />;
    case "list": {
      const lines = Array.isArray(initial) ? (initial as unknown[]).filter((item) => ["string", "number"].includes(typeof item)) : [];
      return <textarea rows={3} defaultValue={lines.join("\n")} {...common} />;
    }
    case "json":
      return <textarea rows={4} class="mono" spellcheck={false} defaultValue={initial === undefined ? "" : JSON.stringify(initial, null, 2)} {...common} />;
  }
}

/** What is to be entered, in words, unless the input shows it. */
function hintOf(of: Kind): string {
  switch (of.kind) {
    case "number":
      return [bounds(of.minimum, of.maximum), ...(of.multipleOf === undefined ? [] : [`A multiple of ${of.multipleOf}.`])].filter((text) => text !== "").join(" ");
    case "text":
      return of.minLength > 1 || of.maxLength < Infinity ? `${bounds(of.minLength, of.maxLength, " characters")}` : "";
    case "list":
      return "One on each line.";
    case "json":
      return of.type === "array" ? "A list in JSON." : of.type === "object" ? "An object in JSON." : "A value in JSON.";
    default:
      return "";
  }
}

function bounds(least: number, most: number, unit = ""): string {
  if (Number.isFinite(least) && Number.isFinite(most) && (unit === "" || least > 0)) return `From ${least} to ${most}${unit}.`;
  if (Number.isFinite(most)) return `At most ${most}${unit}.`;
  return Number.isFinite(least) ? `At least ${least}${unit}.` : "";
}

/** A value as a text that equal values share. */
const canonical = (value: unknown): string => JSON.stringify(value) ?? "";

/** An instant as the input for date and time has it: in the time of this browser. */
function localTime(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
