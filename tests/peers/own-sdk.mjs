// Given to Node with --import: has `@a2a-js/sdk` come from the packages of this folder, whatever file asks for it.
import { registerHooks } from "node:module";

const { url } = import.meta;
registerHooks({
  resolve: (specifier, context, next) => next(specifier, /^@a2a-js\/sdk(?:\/|$)/.test(specifier) ? { ...context, parentURL: url } : context),
});
