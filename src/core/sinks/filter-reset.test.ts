import fc from "fast-check";
import { expect, test } from "vitest";
import { type Op, RESET, type SetName, SYNC } from "../view/ops.ts";
import { createFilterReset } from "./filter-reset.ts";
import {
  brief,
  createRecorder,
  del,
  play,
  setEndpoint,
  setNode,
  setService,
} from "./sink.fixture.ts";

async function filtered(ops: readonly Op[]): Promise<readonly Op[]> {
  const { sink, ops: seen } = createRecorder();
  await play(createFilterReset(sink), ops);
  return seen;
}

test("passes over what is said again and deletes what is not, at the sync", async () => {
  const seen = await filtered([
    RESET,
    setService("web"),
    setEndpoint("web", "a"),
    setEndpoint("web", "b"),
    SYNC,
    RESET,
    setService("web"),
    setEndpoint("web", "b", 9090),
    SYNC,
  ]);
  expect(seen.map(brief)).toEqual([
    "set services default/web",
    "set endpoints default/web/a",
    "set endpoints default/web/b",
    "sync",
    "set endpoints default/web/b",
    "delete endpoints default/web/a",
    "sync",
  ]);
});

test("deletes endpoints before their services, descending", async () => {
  const seen = await filtered([
    RESET,
    setService("a"),
    setService("b"),
    setEndpoint("a", "1"),
    setNode("n"),
    SYNC,
    RESET,
    SYNC,
  ]);
  expect(seen.map(brief).slice(5)).toEqual([
    "delete endpoints default/a/1",
    "delete services default/b",
    "delete services default/a",
    "delete nodes n",
    "sync",
  ]);
});

test("a stream that breaks off and begins anew counts from the last reset", async () => {
  const seen = await filtered([
    ...[RESET, setService("a"), setService("b"), SYNC],
    ...[RESET, setService("a"), RESET, setService("b"), SYNC],
  ]);
  expect(seen.map(brief).slice(3)).toEqual(["delete services default/a", "sync"]);
});

test("a delete of what was never sent is passed over", async () => {
  expect((await filtered([del("services", "default/x"), SYNC])).map(brief)).toEqual(["sync"]);
});

type State = Map<string, Op>;

/** What a sink that takes resets at their word holds after each sync. */
function statesOf(ops: readonly Op[]): State[] {
  const states: State[] = [];
  let now: State = new Map();
  for (const op of ops) {
    if (op.op === "reset") now = new Map();
    else if (op.op === "set") now.set(`${op.set} ${op.path}`, op);
    else if (op.op === "delete") now.delete(`${op.set} ${op.path}`);
    else states.push(new Map(now));
  }
  return states;
}

/** Each step a stream may take: a change, or the whole of some state after a reset. */
const names = fc.constantFrom("a", "b", "c");
const port = fc.integer({ min: 80, max: 82 });
const setOp: fc.Arbitrary<Op> = fc.oneof(
  fc.tuple(names, port).map(([name, number]) => setService(name, number)),
  fc.tuple(names, names, port).map(([of, name, target]) => setEndpoint(of, name, target)),
  fc.tuple(names, names).map(([name, zone]) => setNode(name, zone)),
);
const sets: readonly SetName[] = ["services", "nodes"];
const deleteOp: fc.Arbitrary<Op> = fc
  .tuple(fc.constantFrom(...sets), names)
  .map(([set, name]) => del(set, set === "services" ? `default/${name}` : name));
const history: fc.Arbitrary<readonly Op[]> = fc
  .array(
    fc.oneof(
      fc.array(fc.oneof(setOp, deleteOp), { maxLength: 8 }).map((ops) => [...ops, SYNC]),
      fc.array(setOp, { maxLength: 8 }).map((ops) => [RESET, ...ops, SYNC]),
      fc.array(setOp, { maxLength: 4 }).map((ops) => [RESET, ...ops]),
    ),
    { maxLength: 8 },
  )
  .map((steps) => [RESET, ...steps.flat(), SYNC]);

test("any history with resets gives the same state at every sync, without a reset", async () => {
  await fc.assert(
    fc.asyncProperty(history, async (ops) => {
      const seen = await filtered(ops);
      expect(seen.filter((op) => op.op === "reset")).toEqual([]);
      expect(statesOf(seen)).toEqual(statesOf(ops));
    }),
  );
});

test("nothing is deleted that was there before and is there after, unless the stream said so", async () => {
  const onlyResets = fc
    .array(
      fc.array(setOp, { maxLength: 8 }).map((ops) => [RESET, ...ops, SYNC]),
      { maxLength: 6 },
    )
    .map((steps) => steps.flat());
  await fc.assert(
    fc.asyncProperty(onlyResets, async (ops) => {
      const after = statesOf(ops);
      let sync = 0;
      for (const op of await filtered(ops)) {
        if (op.op === "sync") sync += 1;
        if (op.op === "delete") expect(after[sync]?.has(`${op.set} ${op.path}`)).toBe(false);
      }
    }),
  );
});
