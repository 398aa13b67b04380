import { expect, test } from "vitest";
import { FRAME_HEADER_BYTES } from "../../wire/http2/protocol.ts";
import { firstWindowOf, settings } from "./tunnel-frames.ts";

test("settings say the first window, among others or alone", () => {
  const said = settings(16_384).subarray(FRAME_HEADER_BYTES);
  const other = Buffer.from([0, 99, 1, 2, 3, 4]);
  expect(firstWindowOf(said)).toBe(16_384);
  expect(firstWindowOf(Buffer.concat([other, said]))).toBe(16_384);
});

test("an end of before, whose settings are empty, says nothing of it", () => {
  expect(firstWindowOf(Buffer.alloc(0))).toBeUndefined();
  expect(firstWindowOf(Buffer.from([0, 4, 0]))).toBeUndefined();
});
