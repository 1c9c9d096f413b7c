// Assertions (ACTS §5): whether a value is as a tree of operators and members says.
import { isDeepStrictEqual } from "node:util";
import { isMap, type Assertion, type CollectionMatch } from "./document.ts";

/** An assertion that does not hold. */
export interface Unmet {
  path: string;
  expected: string;
  actual: string;
}

/**
 * Checks a value, which is undefined where there is none. A map says both operators and members: a key is an operator if there is one of
 * this name that takes such an argument, else a member (so `type: {type: string}` is about a member called `type`). All have to hold.
 */
export function check(actual: unknown, assertion: Assertion, path = ""): Unmet | undefined {
  if (Array.isArray(assertion)) return checkList(actual, assertion, path);
  if (!isMap(assertion)) return isDeepStrictEqual(actual, assertion) ? undefined : unmet(path, assertion, actual);
  for (const [key, argument] of Object.entries(assertion)) {
    const operator = operatorOf(key, argument);
    const failed = operator !== undefined ? operator(actual, argument, path) : check(member(actual, key), argument, joined(path, key));
    if (failed !== undefined) return failed;
  }
  return undefined;
}

/** Whether elements of a collection are as `any`, `all` and `none` want them (ACTS §5.5). */
export function checkCollection(source: unknown, kind: "any" | "all" | "none", { path, match }: CollectionMatch): Unmet | undefined {
  const elements = valuesAt(source, path);
  const fit = elements.filter((element) => check(element, match) === undefined).length;
  const holds = { any: fit > 0, all: fit === elements.length, none: fit === 0 }[kind];
  return holds ? undefined : unmet(path, { [kind]: match }, elements);
}

/** The value at a path such as `task.artifacts[0].parts`; undefined where there is none. */
export function valueAt(source: unknown, path: string): unknown {
  const [value] = valuesAt(source, path);
  return value;
}

/** All values at a path, in which `[*]` stands for every element. */
export function valuesAt(source: unknown, path: string): unknown[] {
  const names = [...path.matchAll(/\[(\*|\d+)\]|([^.[\]]+)/g)].map(([, index, name]) => index ?? name ?? "");
  const step = (values: unknown[], name: string): unknown[] =>
    values.flatMap((value) => (name === "*" ? (Array.isArray(value) ? value : []) : [member(value, name)])).filter((value) => value !== undefined);
  return names.reduce(step, [source]);
}

function checkList(actual: unknown, assertions: Assertion[], path: string): Unmet | undefined {
  if (!Array.isArray(actual)) return unmet(path, assertions, actual);
  const failures = assertions.map((assertion, at) => check(actual[at], assertion, `${path}[${at}]`));
  return failures.find((failed) => failed !== undefined);
}

type Operator = (actual: unknown, argument: unknown, path: string) => Unmet | undefined;

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isWhole = (value: unknown): value is number => Number.isInteger(value);
const isTrue = (value: unknown): value is true => value === true;
const isList = (value: unknown): value is Assertion[] => Array.isArray(value) && value.length > 0;
const isType = (value: unknown): value is string => isText(value) && ["string", "number", "boolean", "array", "object", "null"].includes(value);

/** What an operator wants of its argument, and when it holds. */
function operator<Argument>(name: string, takes: (argument: unknown) => argument is Argument, holds: (actual: unknown, argument: Argument) => boolean): [string, Entry] {
  const run: Operator = (actual, argument, path) => (takes(argument) && holds(actual, argument) ? undefined : unmet(path, { [name]: argument }, actual));
  return [name, { takes, run }];
}

interface Entry {
  takes: (argument: unknown) => boolean;
  run: Operator;
}

const length = (value: unknown): number => (Array.isArray(value) ? value.length : NaN);
const text = (value: unknown): string => (isText(value) ? value : "");
const fits = (actual: unknown, assertion: Assertion): boolean => check(actual, assertion) === undefined;

const OPERATORS = new Map<string, Entry>([
  operator("type", isType, (actual, type) => typeOf(actual) === type),
  operator("exists", isTrue, (actual) => actual !== undefined),
  operator("absent", isTrue, (actual) => actual === undefined),
  operator("contains", isText, (actual, part) => isText(actual) && actual.includes(part)),
  operator("matches", isText, (actual, pattern) => isText(actual) && new RegExp(pattern).test(actual)),
  operator("starts_with", isText, (actual, start) => isText(actual) && text(actual).startsWith(start)),
  operator("ends_with", isText, (actual, end) => isText(actual) && text(actual).endsWith(end)),
  operator("gte", isNumber, (actual, bound) => isNumber(actual) && actual >= bound),
  operator("lte", isNumber, (actual, bound) => isNumber(actual) && actual <= bound),
  operator("gt", isNumber, (actual, bound) => isNumber(actual) && actual > bound),
  operator("lt", isNumber, (actual, bound) => isNumber(actual) && actual < bound),
  operator("count", isWhole, (actual, count) => length(actual) === count),
  operator("count_gte", isWhole, (actual, count) => length(actual) >= count),
  operator("count_lte", isWhole, (actual, count) => length(actual) <= count),
  operator("one_of", isList, (actual, values) => values.some((value) => fits(actual, value))),
  operator("all_of", isList, (actual, all) => all.every((one) => fits(actual, one))),
  operator("any_of", isList, (actual, any) => any.some((one) => fits(actual, one))),
  operator("not", (argument): argument is Assertion => argument !== undefined, (actual, assertion) => !fits(actual, assertion)),
  // Not in the grammar, but in the suite: what each element is like, or with a list, the first ones.
  operator("items", (argument): argument is Assertion => isMap(argument) || isList(argument), (actual, items) =>
    Array.isArray(actual) && (Array.isArray(items) ? fits(actual, items) : actual.every((element) => fits(element, items)))),
]);

function operatorOf(key: string, argument: unknown): Operator | undefined {
  const entry = OPERATORS.get(key);
  return entry?.takes(argument) === true ? entry.run : undefined;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function member(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value[Number(name)];
  return isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

const joined = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

function unmet(path: string, expected: unknown, actual: unknown): Unmet {
  const said = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 300);
  return { path, expected: said(expected), actual: said(actual) };
}
