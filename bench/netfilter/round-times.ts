import { medianWithInterval, type SureMedian } from "../support/median-interval.ts";

/** Microseconds that a request took in one round, by way. */
export type RoundTimes<W extends string> = ReadonlyMap<W, number>;

/** What `take-turns` printed: a line for each round, with a number for each way. */
export function parseRounds<W extends string>(
  output: string,
  ways: readonly W[],
): readonly RoundTimes<W>[] {
  return output
    .trimEnd()
    .split("\n")
    .map((line) => {
      const numbers = line.split(" ").map(Number);
      if (numbers.length !== ways.length || !numbers.every((number) => number > 0)) {
        throw new Error(`"${line}" has no time for each of ${ways.join(", ")}`);
      }
      return new Map(ways.map((way, index) => [way, numbers[index] ?? Number.NaN]));
    });
}

/**
 * How many requests go one way in the time of one that goes another: by round, since what disturbs the machine
 * disturbs both ways of a round. Undefined where one of them was not measured.
 */
export function shareOf<W extends string>(
  rounds: readonly RoundTimes<W>[],
  of: W,
  to: W,
): SureMedian | undefined {
  const shares = rounds.flatMap((times) => {
    const [own, other] = [times.get(of), times.get(to)];
    return own === undefined || other === undefined ? [] : [other / own];
  });
  return shares.length === 0 ? undefined : medianWithInterval(shares);
}
