const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["ns", 1e-6],
  ["us", 1e-3],
  ["µs", 1e-3],
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
]);
const PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/;

/** Reads a duration as Go writes it, `1h0m0s`, to whole milliseconds; undefined: it is none. */
export function parseGoDurationMs(text: string): number | undefined {
  if (text === "0") return 0;
  if (!WHOLE.test(text)) return undefined;
  let ms = 0;
  for (const [, count, unit = ""] of text.matchAll(PART)) {
    ms += Number(count) * (UNIT_MS.get(unit) ?? 0);
  }
  return Math.round(ms);
}
