// The entry point of the console.
import { render } from "preact";
import { App } from "./app.tsx";
import "./parts/foreign-text.ts";
import "./style/tokens.css";
import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";

const root = document.getElementById("console");
if (root !== null) render(<App />, root);
