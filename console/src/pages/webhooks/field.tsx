// A field of a form, with its hint and the server's errors about it.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { sentence } from "../../parts/words.ts";

/** The attributes that connect an input with its hint and its error. */
export interface Described {
  id: string;
  "aria-describedby": string;
  "aria-invalid": boolean;
}

/** `errors` are the server's messages about this field; `children` creates the input. */
export function Field({ label, hint, errors, children }: { label: string; hint?: string; errors: readonly string[]; children: (input: Described) => ComponentChildren }) {
  const id = useId();
  return (
    <div class="hook-field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}-hint ${id}-error`, "aria-invalid": errors.length > 0 })}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="quiet">
          {hint}
        </p>
      )}
      {errors.length > 0 && (
        <p id={`${id}-error`} class="hook-error" role="alert">
          {sentence(errors.join("; "))}
        </p>
      )}
    </div>
  );
}
