// The schemas of an agent's skills. parts/form/ makes forms from them.
import { json } from "./http.ts";

/** The known schemas of an agent's skills by their ids; empty if they cannot be loaded. */
export async function inputSchemas(slug: string): Promise<Record<string, unknown>> {
  try {
    const found = await json<{ skills?: Record<string, unknown> }>({ agent: slug, path: `/console/api/agents/${encodeURIComponent(slug)}/schemas`, isQuiet: true });
    return found.skills ?? {};
  } catch {
    return {};
  }
}

/** True if a value is meant as a schema, as in a question: of an object with properties, or named as one by `$schema`. */
export function isFormSchema(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { type, properties, $schema: dialect } = value as Record<string, unknown>;
  return (type === "object" && typeof properties === "object" && properties !== null) || (typeof dialect === "string" && dialect.includes("json-schema.org"));
}
