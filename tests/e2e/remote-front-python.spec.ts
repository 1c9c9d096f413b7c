// Fronts of servers with the official SDK for Python, of 1.0 and of 0.3.

import { python, pythonV03, withoutPython, withoutPythonV03 } from "./python.ts";
import { passes } from "./servers/passes.ts";
import { startPython } from "./servers/walk.ts";

passes(
  { name: "a2a-sdk", start: () => startPython(python, "sample.py"), skip: withoutPython },
  { name: "a2a-sdk 0.3", start: () => startPython(pythonV03, "sample_v03.py"), skip: withoutPythonV03 },
);
