import fc from "fast-check";
import { expect, test } from "vitest";
import { type Memory, OutputBuffer } from "./output-buffer.ts";

test("what goes in comes out in its order, and memory is held only meanwhile", () => {
  const step = fc.oneof(
    fc.record({ put: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 50 }) }),
    fc.record({ drop: fc.nat({ max: 60 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let lent = 0;
      let told = 0;
      const pool = {
        borrow: (byteCount: number): Memory => {
          lent += 1;
          return { bytes: Buffer.alloc(Math.max(64, byteCount)) };
        },
        giveBack: () => {
          lent -= 1;
        },
      };
      const output = new OutputBuffer(pool, () => {
        told += 1;
      });
      let waiting = "";
      for (const one of steps) {
        if ("put" in one) {
          const toldBefore = told;
          const wasEmpty = waiting === "";
          const at = output.extend(one.put.length);
          output.bytes.write(one.put, at, "latin1");
          waiting += one.put;
          expect(told - toldBefore).toBe(wasEmpty ? 1 : 0);
        } else {
          const count = Math.min(one.drop, waiting.length);
          output.drop(count);
          waiting = waiting.slice(count);
        }
        const { start, size, bytes } = output;
        expect(bytes.toString("latin1", start, start + size)).toBe(waiting);
        expect(lent).toBe(waiting === "" ? 0 : 1);
      }
    }),
  );
});
