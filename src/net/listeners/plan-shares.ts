/** Socket `socket` goes to loop `to`. */
export interface Move {
  readonly socket: number;
  readonly to: string;
}

/**
 * Which sockets have to move so that all are served by a loop that runs, and no loop has two more than
 * another. As few as possible move; the same input gives the same moves.
 *
 * @param holders the loop that has each socket now; undefined where none does
 */
export function planShares(
  holders: readonly (string | undefined)[],
  loops: readonly string[],
): readonly Move[] {
  if (loops.length === 0) return [];
  const held = new Map<string, number[]>(loops.map((loop) => [loop, []]));
  const orphans: number[] = [];
  for (const [socket, holder] of holders.entries()) {
    const sockets = holder === undefined ? undefined : held.get(holder);
    if (sockets === undefined) orphans.push(socket);
    else sockets.push(socket);
  }
  const moves = new Map<number, string>();
  const give = (socket: number, to: string): void => {
    held.get(to)?.push(socket);
    moves.set(socket, to);
  };
  for (const socket of orphans)
    give(
      socket,
      extreme(held, (a, b) => a < b),
    );
  for (;;) {
    const fullest = extreme(held, (a, b) => a > b);
    const emptiest = extreme(held, (a, b) => a < b);
    const most = held.get(fullest) ?? [];
    const least = held.get(emptiest) ?? [];
    if (most.length - least.length < 2) break;
    const socket = most.pop();
    if (socket === undefined) break;
    give(socket, emptiest);
  }
  return [...moves].map(([socket, to]) => ({ socket, to }));
}

/** The first loop whose number of sockets wins against all others. */
function extreme(
  held: ReadonlyMap<string, readonly number[]>,
  wins: (a: number, b: number) => boolean,
): string {
  let best: readonly [string, number] | undefined;
  for (const [loop, { length }] of held) {
    if (best === undefined || wins(length, best[1])) best = [loop, length];
  }
  return best?.[0] ?? "";
}
