const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
];

/** As nft lists a time-out: 5400 s are `1h30m`. */
export function nftDuration(seconds: number): string {
  let left = seconds;
  let text = "";
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    if (count > 0) text += `${count}${unit}`;
    left -= count * size;
  }
  return text === "" ? "0s" : text;
}
