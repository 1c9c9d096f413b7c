// Given to Node with --import: has the client of `@a2a-js/sdk` 0.2 stand in for that of 0.3, whatever file asks for it.
import { registerHooks } from "node:module";

const { href } = new URL("sdk-0.2.ts", import.meta.url);
registerHooks({
  resolve: (specifier, context, next) => next(specifier === "@a2a-js/sdk-0.3/client" ? href : specifier, context),
});
