// Whether a JSON value is a message of a2a.proto (A2A §5.5, §5.7): no members but its own, each of its type, and those that are required.
// Reads as much of the language of protobuf as that file has.
import { isMap } from "./document.ts";

interface Field {
  type: string;
  isList: boolean;
  isMap: boolean;
  isRequired: boolean;
}

/** Messages by their names, with their fields by their names in JSON; enums with their values. */
export interface Schema {
  messages: Map<string, Map<string, Field>>;
  enums: Map<string, string[]>;
}

export function readProto(text: string): Schema {
  const plain = text.replace(/\/\/.*$/gm, "");
  const schema: Schema = { messages: new Map(), enums: new Map() };
  for (const [, kind, name = "", body = ""] of plain.matchAll(/^(message|enum) (\w+) \{\n([^]*?)^\}/gm)) {
    if (kind === "enum") schema.enums.set(name, [...body.matchAll(/^\s*(\w+) = \d+;/gm)].map(([, value = ""]) => value));
    else schema.messages.set(name, fieldsOf(body));
  }
  return schema;
}

/** A field stands alone or in a `oneof`, which are told apart by nothing here: only one of those is in a value anyway. */
function fieldsOf(body: string): Map<string, Field> {
  const fields = body.matchAll(/^\s*(repeated |optional )?(map<string, ([\w.]+)>|[\w.]+) (\w+) = \d+([^;]*);/gm);
  return new Map([...fields].map(([, label, type = "", value, name = "", options = ""]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    { type: value ?? type, isList: label === "repeated ", isMap: value !== undefined, isRequired: options.includes("REQUIRED") },
  ]));
}

/** What is wrong with a value as a message of this name, with where; undefined if nothing is. */
export function misfit(schema: Schema, message: string, value: unknown, path = message): string | undefined {
  const fields = schema.messages.get(message);
  if (fields === undefined) return primitive(schema, message, value) ? undefined : `${path} is no ${message}: ${JSON.stringify(value)}`;
  if (!isMap(value)) return `${path} is no object`;
  for (const name of Object.keys(value)) if (!fields.has(name)) return `${path} has an unknown member ${name}`;
  for (const [name, field] of fields) {
    const member = value[name];
    const place = `${path}.${name}`;
    if (member === undefined && field.isRequired) return `${place} is missing`;
    const wrong = member === undefined ? undefined : misfitField(schema, field, member, place);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function misfitField(schema: Schema, { type, isList, isMap: isMapField, isRequired }: Field, member: unknown, place: string): string | undefined {
  if (isList && !Array.isArray(member)) return `${place} is no list`;
  if (isList && isRequired && (member as unknown[]).length === 0) return `${place} is required, and empty`;
  if (isMapField && !isMap(member)) return `${place} is no object`;
  const values = isList || isMapField ? Object.entries(member as object).map(([key, value]) => [`${place}[${key}]`, value] as const) : [[place, member] as const];
  return values.map(([at, value]) => misfit(schema, type, value, at)).find((wrong) => wrong !== undefined);
}

function primitive({ enums }: Schema, type: string, value: unknown): boolean {
  const values = enums.get(type);
  if (values !== undefined) return values.includes(String(value));
  const is: Record<string, () => boolean> = {
    string: () => typeof value === "string",
    bool: () => typeof value === "boolean",
    int32: () => Number.isInteger(value),
    bytes: () => typeof value === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(value),
    "google.protobuf.Struct": () => isMap(value),
    "google.protobuf.Value": () => value !== undefined,
    "google.protobuf.Timestamp": () => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value),
  };
  return is[type]?.() ?? false;
}
