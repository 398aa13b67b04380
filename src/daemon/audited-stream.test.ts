import { expect, test } from "vitest";
import type { Log } from "../core/log.ts";
import type { OpStream } from "../core/sinks/pump.ts";
import { type DeleteOp, type Op, RESET, SYNC } from "../core/view/ops.ts";
import { auditedStream } from "./audited-stream.ts";

const OWNER = "api:brain";

function deleteOf(path: string): DeleteOp {
  return { op: "delete", set: "services", path };
}

/** A stream with these changes, and what is written of them. */
function open(...changes: readonly (readonly Op[])[]): { stream: OpStream; lines: unknown[] } {
  const left = [...changes];
  const lines: unknown[] = [];
  const silent = (): void => undefined;
  const info: Log["info"] = (fields) => lines.push(fields);
  const log = { debug: silent, info, warn: silent, error: silent };
  const source = { poll: () => left.shift(), next: async () => left.shift() ?? [], close: silent };
  return { stream: auditedStream(source, OWNER, log), lines };
}

test("each change is audited once, whichever way it is taken, and what changes nothing is not", async () => {
  const { stream, lines } = open(
    [RESET, deleteOf("default/a"), SYNC],
    [SYNC],
    [deleteOf("default/b"), SYNC],
  );
  expect(stream.poll()).toHaveLength(3);
  expect(await stream.next(new AbortController().signal, () => undefined)).toEqual([SYNC]);
  expect(await stream.next(new AbortController().signal, () => undefined)).toHaveLength(2);
  expect(stream.poll()).toBeUndefined();
  const common = { owner: OWNER, set: 0, deleted: 1, more: 0 };
  expect(lines).toEqual([
    { audit: { ...common, whole: true, changes: ["delete services default/a"] } },
    { audit: { ...common, whole: false, changes: ["delete services default/b"] } },
  ]);
});

test("of many changes the first are named", () => {
  const { stream, lines } = open(
    Array.from({ length: 25 }, (_, index) => deleteOf(`default/${index}`)),
  );
  stream.poll();
  expect(lines).toMatchObject([{ audit: { deleted: 25, more: 5 } }]);
});
