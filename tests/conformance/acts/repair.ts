// Where tests of the suite are not of the form that its specification gives them (ACTS §4 to §6), and what they are read as. Each rule
// renames or moves what a test says, and makes up no value. A rule that no longer finds anything is out of date, and the command says so.
import { isMap, type Members } from "./document.ts";

/** A rule for a step. It changes the step, and answers whether it found something. */
export interface Repair {
  name: string;
  /** What the tests write, and what it is read as. */
  says: string;
  apply(step: Members): boolean;
}

export const REPAIRS: Repair[] = [
  {
    name: "error-name-as-code",
    says: "`expect_error.code` with the name of an error: `error_type` (ACTS §6.2)",
    apply: ({ expect_error: error }) => isMap(error) && move(error, "code", error, "error_type"),
  },
  {
    name: "error-details-as-data",
    says: "`expect_error.data`: `details` (ACTS §6.2)",
    apply: ({ expect_error: error }) => isMap(error) && move(error, "data", error, "details"),
  },
  {
    name: "operations-of-push-configs",
    says: "`set_push_notification_config` and its like: `create_push_config` and its like (ACTS §4.1)",
    apply: (step) => {
      const operation = OPERATIONS[String(step["operation"])];
      if (operation !== undefined) step["operation"] = operation;
      return operation !== undefined;
    },
  },
  {
    name: "error-as-expected-member",
    says: "`expect` with `error: {exists: true}`: `expect_error` of any type (ACTS §6.2)",
    apply: (step) => {
      const { expect } = step;
      if (!isMap(expect) || !("error" in expect)) return false;
      delete step["expect"];
      step["expect_error"] = {};
      return true;
    },
  },
  {
    name: "members-beside-the-body",
    says: "members of the answer directly in `expect`: in `expect.body` (ACTS §6.1)",
    apply: ({ expect }) => {
      if (!isMap(expect)) return false;
      const body: Members = isMap(expect["body"]) ? expect["body"] : {};
      const outside = Object.keys(expect).filter((name) => name !== "status" && name !== "body");
      for (const name of outside) move(expect, name, body, name);
      if (outside.length > 0) expect["body"] = body;
      return outside.length > 0;
    },
  },
];

/** Repairs the steps of a test, and gives the names of the rules that found something, one for each step and rule. */
export function repair(test: Members): string[] {
  const steps = Array.isArray(test["steps"]) ? test["steps"].filter(isMap) : [];
  return steps.flatMap((step) => REPAIRS.filter(({ apply }) => apply(step)).map(({ name }) => name));
}

function move(from: Members, name: string, to: Members, as: string): boolean {
  if (!(name in from)) return false;
  to[as] = from[name];
  delete from[name];
  return true;
}

const OPERATIONS: Record<string, string> = {
  set_push_notification_config: "create_push_config",
  get_push_notification_config: "get_push_config",
  list_push_notification_configs: "list_push_configs",
  delete_push_notification_config: "delete_push_config",
};
