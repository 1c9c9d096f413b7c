// Given to Node with --import: has spec files get the client of compat.ts for that of `@a2a-js/sdk`, which is the newest here.
import { registerHooks } from "node:module";

const { href } = new URL("compat.ts", import.meta.url);
const parentURL = new URL("../e2e/", import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) => {
    if (!specifier.startsWith("@a2a-js/sdk/")) return next(specifier, context);
    return specifier.endsWith("/client") && context.parentURL !== href ? next(href, context) : next(specifier, { ...context, parentURL });
  },
});
