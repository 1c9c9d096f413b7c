// The modules of dev/, which stand before the Worker's in development.
import { pathToFileURL } from "node:url";
import { inNpmPackage } from "./packages.mjs";
import { inPackage } from "./paths.mjs";

/**
 * The modules of dev/ as the text of one module. It holds the JavaScript of the Worker's own module `product`, a path; without, it imports that
 * from `./index.js` beside it.
 */
export async function developmentModule(product) {
  const { default: esbuild } = await import(pathToFileURL(inNpmPackage("esbuild", "lib", "main.js")).href);
  const found = product === undefined ? { path: "./index.js", external: true } : { path: product };
  const plugin = {
    name: "product",
    setup: (plan) => {
      plan.onResolve({ filter: /^\.\/index\.js$/ }, () => found);
      plan.onResolve({ filter: /\.wasm$|^cloudflare:/ }, ({ path }) => ({ path, external: true }));
    },
  };
  const { outputFiles } = await esbuild.build({
    entryPoints: [inPackage("dev", "main.js")], bundle: true, format: "esm", target: "esnext", write: false, logLevel: "silent", plugins: [plugin],
  });
  return outputFiles[0].text;
}
