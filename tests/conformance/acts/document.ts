// The documents of ACTS as types (ACTS §2 to §10), after they were read, repaired and validated.

export type Level = "must" | "should" | "may";
export type Binding = "jsonrpc" | "grpc" | "rest";

/** An assertion of ACTS §5: an exact value, a list by position, or a map of operators and members. */
export type Assertion = unknown;
export type Members = Record<string, unknown>;

/** A file, with the tests of all its suites. */
export interface Document {
  /** Its path, relative to the folder of the manifest. */
  file: string;
  specVersion: string;
  variables: Record<string, string>;
  suites: Suite[];
}

export interface Suite {
  id: string;
  name: string;
  tests: Test[];
}

export interface Test {
  id: string;
  name: string;
  description?: string;
  level: Level;
  tags?: string[];
  transport?: Binding[];
  preconditions?: Preconditions;
  requires_behaviors?: string[];
  runner_requirements?: string[];
  steps: Step[];
  assertions?: NamedAssertion[];
}

export interface Preconditions {
  capabilities?: Members;
  skills?: { id: string }[];
  transport?: Binding[];
  extensions?: string[];
}

export type Step = ServerStep | RawStep | ClientStep | AssertionStep;

interface Asking {
  id: string;
  expect?: { status?: Assertion; body?: Members };
  expect_error?: ExpectError;
  expect_stream?: ExpectStream;
  capture?: Record<string, string>;
  assertions?: NamedAssertion[];
  repeat?: Repeat;
  delay_ms?: number;
}

export interface ServerStep extends Asking {
  operation: string;
  params?: Members;
}

export interface RawStep extends Asking {
  raw: { method: string; path: string; headers?: Record<string, string>; body?: unknown; body_raw?: string };
}

export interface ClientStep {
  id: string;
  client_response: { operation: string; wire_payload: unknown };
  expect_parsed: Members;
  assertions?: NamedAssertion[];
}

export interface AssertionStep {
  id: string;
  assertion: NamedAssertion;
}

export interface ExpectError {
  error_type?: Assertion;
  message?: Assertion;
  details?: Assertion;
}

export interface ExpectStream {
  min_count?: number;
  max_count?: number;
  timeout_ms?: number;
  ordering?: "monotonic_state";
  events?: Members[];
  final_event?: Members;
  each_event?: Members;
}

export interface NamedAssertion {
  source: string;
  path?: string;
  match?: Assertion;
  any?: CollectionMatch;
  all?: CollectionMatch;
  none?: CollectionMatch;
}

export interface CollectionMatch {
  path: string;
  match: Assertion;
}

export interface Repeat {
  until: string;
  max_attempts?: number;
  delay_ms?: number;
  backoff?: "none" | "linear" | "exponential";
}

export const isMap = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);
