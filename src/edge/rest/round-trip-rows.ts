/** How far one node is from another, as the first one measured it. */
export interface RoundTripRow {
  readonly from: string;
  readonly to: string;
  readonly roundTripMs: number;
}

/** What a node told of its way to others. */
export interface ToldRoundTrips {
  readonly node: string;
  readonly toMs: Readonly<Record<string, number>>;
}

/** More pairs than people or programs look at are left out. */
const MAX_ROWS = 4096;

/** All pairs that are known, in order: what this node measured itself, and what others told. */
export function roundTripRows(
  own: string,
  measured: readonly { readonly name: string; readonly roundTripMs: number | null }[],
  told: readonly ToldRoundTrips[],
): readonly RoundTripRow[] {
  const here = measured.flatMap(({ name, roundTripMs }) =>
    roundTripMs === null ? [] : [{ from: own, to: name, roundTripMs }],
  );
  const elsewhere = told
    .filter(({ node }) => node !== own)
    .flatMap(({ node, toMs }) =>
      Object.entries(toMs).map(([to, roundTripMs]) => ({ from: node, to, roundTripMs })),
    );
  return [...here, ...elsewhere]
    .slice(0, MAX_ROWS)
    .sort((a, b) => compare(a.from, b.from) || compare(a.to, b.to));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
