/**
 * A promise that is fulfilled when the client of a request disconnects.
 *
 * @param {Request} request @returns {Promise<undefined>}
 */
export function left(request) {
  const { signal } = request;
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined));
  });
}
