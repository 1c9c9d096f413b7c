// The interpreters that have the official Python SDK: that of today and that of A2A 0.3. `npm test` makes their virtual environments where
// Python 3.10 or newer is to be had and names them in A2A_PYTHON and A2A_PYTHON_V03.

const named = process.env["A2A_PYTHON"];
const namedV03 = process.env["A2A_PYTHON_V03"];

/** Their paths. */
export const python = named ?? "";
export const pythonV03 = namedV03 ?? "";

/** Why a test with one of them is skipped; `false` where it is not. */
const reason = "no Python 3.10 or newer with venv";
export const withoutPython = named === undefined && reason;
export const withoutPythonV03 = namedV03 === undefined && reason;
