// JSON schemas as far as the console makes forms from them, and the schemas of an agent's skills.
import { json } from "./http.ts";

/** A schema. The agent checks keywords that a form does not support. */
export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  enumNames?: string[];
  const?: unknown;
  default?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  $ref?: string;
  $defs?: Record<string, Schema>;
  definitions?: Record<string, Schema>;
}

/** The known schemas of an agent's skills by their ids; empty if they cannot be loaded. */
export async function inputSchemas(slug: string): Promise<Record<string, Schema>> {
  try {
    const found = await json<{ skills?: Record<string, Schema> }>({ agent: slug, path: `/console/api/agents/${encodeURIComponent(slug)}/schemas`, isQuiet: true });
    return found.skills ?? {};
  } catch {
    return {};
  }
}

/** True if a value is a schema of an object with properties, as in a question. */
export function isFormSchema(value: unknown): value is Schema {
  const schema = value as Schema | null;
  return typeof schema === "object" && schema !== null && schema.type === "object" && typeof schema.properties === "object" && schema.properties !== null;
}

/** The schema that a reference within `root` points to; for alternatives, the only one that is not null. */
export function resolved(schema: Schema, root: Schema, depth = 0): Schema {
  if (depth > 8) return {};
  const [, name] = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(schema.$ref ?? "") ?? [];
  if (name !== undefined) {
    const { $ref: _, ...own } = schema;
    return resolved({ ...(root.$defs?.[name] ?? root.definitions?.[name] ?? {}), ...own }, root, depth + 1);
  }
  const some = schema.anyOf ?? schema.oneOf;
  const real = some?.filter(({ type }) => type !== "null");
  if (some !== undefined && real?.length === 1 && real[0] !== undefined) {
    const { anyOf: _, oneOf: __, ...own } = schema;
    return resolved({ ...real[0], ...own }, root, depth + 1);
  }
  return schema;
}

/** The type of a schema; of several, the first that is not null. */
export function typeOf(schema: Schema): string | undefined {
  if (typeof schema.type === "string") return schema.type;
  return schema.type?.find((type) => type !== "null") ?? (schema.properties === undefined ? undefined : "object");
}

/** The allowed values with their labels; undefined if the value is free. */
export function choicesOf(schema: Schema): { value: unknown; word: string }[] | undefined {
  if (schema.const !== undefined) return [{ value: schema.const, word: String(schema.title ?? schema.const) }];
  if (schema.enum !== undefined) return schema.enum.map((value, at) => ({ value, word: schema.enumNames?.[at] ?? (typeof value === "string" ? value : JSON.stringify(value)) }));
  const some = schema.oneOf ?? schema.anyOf;
  if (some === undefined || some.length === 0 || !some.every((one) => one.const !== undefined || one.enum?.length === 1)) return undefined;
  return some.map((one) => {
    const value = one.const ?? one.enum?.[0];
    return { value, word: one.title ?? one.description ?? String(value) };
  });
}
