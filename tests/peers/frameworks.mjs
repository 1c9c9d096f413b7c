// Given to Node with --import: has the packages of examples/http-agents come from this folder.
import { registerHooks } from "node:module";

const { url } = import.meta;
registerHooks({
  resolve: (specifier, context, next) => next(specifier, /^(?:ai|zod|@ai-sdk\/openai)$/.test(specifier) ? { ...context, parentURL: url } : context),
});
