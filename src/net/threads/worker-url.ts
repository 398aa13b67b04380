/**
 * The module of a thread, beside the module that starts it: `workerUrl("./proxy-loop", import.meta.url)`.
 * It has the extension of that one, which is another in the sources than when compiled.
 */
export function workerUrl(path: string, startedBy: string): URL {
  return new URL(`${path}${startedBy.slice(startedBy.lastIndexOf("."))}`, startedBy);
}
