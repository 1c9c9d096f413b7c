// The modules of dev/, which wrap the Worker in development.
import { pathToFileURL } from "node:url";
import { inNpmPackage } from "./packages.mjs";
import { inPackage } from "./paths.mjs";

/**
 * Bundles the modules of dev/ into the text of one module. With `product`, a path, the bundle includes the Worker's own module; without it, the
 * bundle imports `./index.js`.
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
