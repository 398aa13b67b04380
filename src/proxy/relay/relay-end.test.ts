import { expect, test } from "vitest";
import { FakeStream } from "../../net/fake-stream.fixture.ts";
import { SCRATCH_BYTES } from "../../net/net-event-loop.ts";
import { RelayEnd } from "./relay-end.ts";

const OWNER = { endReady: () => undefined, endDismissed: () => undefined };

test.each([
  [512, 512],
  [SCRATCH_BYTES, SCRATCH_BYTES],
  // More would be read past the end of the memory that all reads of a loop go to.
  [SCRATCH_BYTES * 2, SCRATCH_BYTES],
])("a buffer of %i bytes reads %i at once", (wanted, expected) => {
  expect(new RelayEnd(new FakeStream({}), wanted, OWNER).bufferBytes).toBe(expected);
});
