// The interpreter that has the official Python SDK. `npm test` makes its virtual environment where Python 3.10 or newer is
// to be had and names it in A2A_PYTHON.

const named = process.env["A2A_PYTHON"];

/** Its path. */
export const python = named ?? "";

/** Why a test with it is skipped; `false` where it is not. */
export const withoutPython = named === undefined && "no Python 3.10 or newer with venv";
