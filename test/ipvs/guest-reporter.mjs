/**
 * Tells each test of `node:test` as a line of JSON, with the names of the suites around it.
 * @param {AsyncIterable<{ type: string, data: any }>} source
 */
// biome-ignore lint/style/noDefaultExport: node:test wants it so
export default async function* report(source) {
  /** @type {string[]} */
  const names = [];
  for await (const { type, data } of source) {
    if (type === "test:start") {
      names.length = data.nesting;
      names.push(data.name);
    }
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (data.details?.type === "suite") continue;
    const path = [...names.slice(0, data.nesting), data.name];
    const error = data.details?.error;
    const cause = error?.cause ?? error;
    const problem = type === "test:fail" ? String(cause?.stack ?? cause) : undefined;
    yield `\u001e${JSON.stringify({ path, problem, skipped: data.skip !== undefined })}\n`;
  }
}
