/** The same bytes as a network may cut them: whole, one by one, and in two at each boundary. */
export function* eachSplit(bytes: Buffer): Iterable<readonly Buffer[]> {
  yield [bytes];
  yield [...bytes].map((byte) => Buffer.from([byte]));
  for (let at = 1; at < bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)];
}

/** All beginnings of the bytes, from none of them to all but the last. */
export function* eachBeginning(bytes: Buffer): Iterable<Buffer> {
  for (let length = 0; length < bytes.length; length++) yield bytes.subarray(0, length);
}
