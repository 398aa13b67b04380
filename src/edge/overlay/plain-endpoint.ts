/** `[::ffff:c0a8:202]:50103`: an IPv4 address as a socket of IPv6 knows it. */
const MAPPED = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]:(\d+)$/;

/** An end as people write it: IPv4 is not shown as IPv6. */
export function plainEndpoint(text: string): string {
  const match = MAPPED.exec(text);
  if (match === null) return text;
  const [, high = "", low = "", port] = match;
  const bytes = [high, low].flatMap((word) => {
    const value = Number.parseInt(word, 16);
    return [value >> 8, value & 0xff];
  });
  return `${bytes.join(".")}:${port}`;
}
