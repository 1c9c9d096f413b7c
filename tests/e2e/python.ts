// The interpreters with the official Python SDK: the current one and that of A2A 0.3. `npm test` creates their virtual environments if
// Python 3.10 or newer is available, and sets A2A_PYTHON and A2A_PYTHON_V03.

const named = process.env["A2A_PYTHON"];
const namedV03 = process.env["A2A_PYTHON_V03"];

/** The paths of the interpreters. */
export const python = named ?? "";
export const pythonV03 = namedV03 ?? "";

/** The reason to skip a test with one of them; `false` if it is available. */
const reason = "no Python 3.10 or newer with venv";
export const withoutPython = named === undefined && reason;
export const withoutPythonV03 = namedV03 === undefined && reason;
