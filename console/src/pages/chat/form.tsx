// A form from a JSON schema: for the arguments of tools, and for the questions of an agent.
import { useId, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { isObject } from "../../api/card.ts";
import { choicesOf, resolved, typeOf, type Schema } from "../../api/schemas.ts";

/** The value of an empty field: the member is left out. */
const NOTHING = Symbol("nothing");

interface Field {
  path: string;
  name: string;
  schema: Schema;
  root: Schema;
  isRequired: boolean;
}

/** A form for an object of the schema. `submit` is called with the object when it is valid. */
export function SchemaForm({ schema, label, action, submit, children }: { schema: Schema; label: string; action: string; submit: (value: Record<string, unknown>) => void; children?: ComponentChildren }) {
  const form = useRef<HTMLFormElement>(null);
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    const shown = form.current;
    if (shown === null) return;
    const value = read({ path: "", name: "", schema, root: schema, isRequired: true }, new FormData(shown), shown);
    if (!shown.reportValidity()) return;
    submit(value === NOTHING ? {} : (value as Record<string, unknown>));
  };
  return (
    <form ref={form} class="schema-form" aria-label={label} onSubmit={send} onInput={(event) => (event.target as HTMLInputElement).setCustomValidity?.("")}>
      <Members schema={schema} root={schema} path="" />
      <div class="actions">
        {children}
        <button type="submit" class="primary">
          {action}
        </button>
      </div>
    </form>
  );
}

function Members({ schema, root, path }: { schema: Schema; root: Schema; path: string }) {
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0) return <p class="quiet">It needs no arguments.</p>;
  return (
    <>
      {members.map(([name, of]) => (
        <FieldView key={name} field={{ path: `${path}/${name}`, name, schema: resolved(of, root), root, isRequired: schema.required?.includes(name) === true }} />
      ))}
    </>
  );
}

function FieldView({ field }: { field: Field }) {
  const { path, name, schema, root, isRequired } = field;
  const hint = useId();
  const type = typeOf(schema);
  const title = schema.title ?? name;
  const description = schema.description;
  const about = description === undefined ? {} : { "aria-describedby": hint };
  const told = description === undefined ? null : <small id={hint}>{description}</small>;
  const mark = isRequired ? null : <span class="optional">optional</span>;
  if (type === "object" && schema.properties !== undefined && choicesOf(schema) === undefined) {
    return (
      <fieldset>
        <legend>
          {title} {mark}
        </legend>
        {told}
        <Members schema={schema} root={root} path={path} />
      </fieldset>
    );
  }
  const items = type === "array" && schema.items !== undefined ? choicesOf(resolved(schema.items, root)) : undefined;
  if (items !== undefined) {
    const chosen = Array.isArray(schema.default) ? schema.default : [];
    return (
      <fieldset>
        <legend>
          {title} {mark}
        </legend>
        {told}
        <div class="row">
          {items.map(({ value, word }, at) => (
            <label key={at} class="row">
              <input type="checkbox" name={path} value={at} defaultChecked={chosen.includes(value)} />
              {word}
            </label>
          ))}
        </div>
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label>
        <span>
          {title} {mark}
        </span>
        <Input field={field} about={about} />
      </label>
      {told}
    </div>
  );
}

function Input({ field: { path, schema, root, isRequired }, about }: { field: Field; about: object }) {
  const type = typeOf(schema);
  const choices = type === "boolean" ? BOOLEANS : choicesOf(schema);
  const [first] = useState(() => (schema.default === undefined ? undefined : schema.default));
  if (choices !== undefined) {
    const at = choices.findIndex(({ value }) => value === first);
    return (
      <select name={path} required={isRequired} defaultValue={at < 0 ? "" : String(at)} {...about}>
        <option value="">{isRequired ? "Choose…" : "Not given"}</option>
        {choices.map(({ word }, index) => (
          <option key={index} value={index}>
            {word}
          </option>
        ))}
      </select>
    );
  }
  if (type === "number" || type === "integer") {
    return (
      <input
        name={path}
        type="number"
        inputMode={type === "integer" ? "numeric" : "decimal"}
        step={type === "integer" ? 1 : "any"}
        min={schema.minimum}
        max={schema.maximum}
        required={isRequired}
        defaultValue={first === undefined ? "" : String(first)}
        {...about}
      />
    );
  }
  if (type === "string") {
    const input = INPUTS[schema.format ?? ""] ?? "text";
    const isLong = input === "text" && (schema.maxLength ?? 0) > 200;
    const common = { name: path, required: isRequired, minLength: schema.minLength, maxLength: schema.maxLength, defaultValue: typeof first === "string" ? first : "", autocomplete: "off", ...about };
    return isLong ? <textarea rows={3} {...common} /> : <input type={input as "text"} pattern={patternOf(schema.pattern)} {...common} />;
  }
  const isLines = type === "array" && isScalar(typeOf(resolved(schema.items ?? {}, root)));
  return (
    <textarea
      name={path}
      rows={3}
      required={isRequired}
      placeholder={isLines ? "One on each line" : type === "array" ? "A list in JSON" : type === "object" ? "An object in JSON" : "JSON"}
      defaultValue={first === undefined ? "" : isLines && Array.isArray(first) ? first.join("\n") : JSON.stringify(first, null, 2)}
      class="mono"
      {...about}
    />
  );
}

/** The value of a field from the form data. An error is reported at the field's element. */
function read({ path, schema, root, isRequired }: Field, data: FormData, form: HTMLFormElement): unknown {
  const type = typeOf(schema);
  const choices = type === "boolean" ? BOOLEANS : choicesOf(schema);
  if (type === "object" && schema.properties !== undefined && choices === undefined) {
    const members = Object.entries(schema.properties).flatMap(([name, of]): [string, unknown][] => {
      const value = read({ path: `${path}/${name}`, name, schema: resolved(of, root), root, isRequired: schema.required?.includes(name) === true }, data, form);
      return value === NOTHING ? [] : [[name, value]];
    });
    return members.length === 0 && !isRequired ? NOTHING : Object.fromEntries(members);
  }
  const items = type === "array" && schema.items !== undefined ? choicesOf(resolved(schema.items, root)) : undefined;
  if (items !== undefined) {
    const chosen = data.getAll(path).map((at) => items[Number(at)]?.value);
    return chosen.length === 0 && !isRequired ? NOTHING : chosen;
  }
  const text = String(data.get(path) ?? "");
  if (choices !== undefined) return text === "" ? NOTHING : choices[Number(text)]?.value;
  if (text === "" && !(type === "string" && isRequired)) return NOTHING;
  if (type === "string") return schema.format === "date-time" ? new Date(text).toISOString() : text;
  if (type === "number" || type === "integer") return Number(text);
  const item = typeOf(resolved(schema.items ?? {}, root));
  if (type === "array" && isScalar(item)) {
    const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
    const numbers = lines.map(Number);
    const isWrong = item !== "string" && numbers.some((number) => Number.isNaN(number) || (item === "integer" && !Number.isInteger(number)));
    complain(form, path, isWrong ? "A number on each line, please." : "");
    return item === "string" ? lines : numbers;
  }
  try {
    const value: unknown = JSON.parse(text);
    const isWrong = (type === "array" && !Array.isArray(value)) || (type === "object" && !isObject(value));
    complain(form, path, isWrong ? `It has to be ${type === "array" ? "a list" : "an object"} in JSON.` : "");
    return value;
  } catch (error) {
    complain(form, path, `This is not JSON: ${error instanceof Error ? error.message : ""}`);
    return NOTHING;
  }
}

function complain(form: HTMLFormElement, name: string, text: string): void {
  const element = form.elements.namedItem(name);
  if (element instanceof HTMLTextAreaElement) element.setCustomValidity(text);
}

const INPUTS: Record<string, "email" | "url" | "date" | "datetime-local" | "password"> = { email: "email", uri: "url", date: "date", "date-time": "datetime-local", password: "password" };

const BOOLEANS = [
  { value: true, word: "Yes" },
  { value: false, word: "No" },
];

function isScalar(type: string | undefined): boolean {
  return type === "string" || type === "number" || type === "integer";
}

/** The pattern for an input: an input matches the whole text, a schema any part of it. */
function patternOf(pattern: string | undefined): string | undefined {
  if (pattern === undefined || pattern.includes("|")) return undefined;
  try {
    new RegExp(pattern, "v");
    return `${pattern.startsWith("^") ? "" : ".*"}(?:${pattern.replace(/^\^/, "").replace(/\$$/, "")})${pattern.endsWith("$") ? "" : ".*"}`;
  } catch {
    return undefined;
  }
}
