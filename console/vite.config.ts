// How the console is built: static files below /console/, without anything from other origins.
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  // Elements as calls with their children as arguments, which is a kilobyte less than objects with a member for them.
  oxc: {
    jsx: { runtime: "classic", pragma: "_element", pragmaFrag: "_Fragment" },
    jsxInject: 'import { h as _element, Fragment as _Fragment } from "preact";',
  },
  build: {
    target: "es2023",
    // Those with light-dark(), which older ones would need twice as much for.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // The content security policy lets no data: URL be a style or a script.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
});
