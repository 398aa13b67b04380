import { expect, test } from "vitest";
import { MINIMAL, measureFake } from "./measure-calls.ts";

test("1,000 services of 10 endpoints: one call for each object, three for a change, none for nothing", async () => {
  const { first, change, again, look } = await measureFake();
  expect(first.calls / MINIMAL).toBeLessThanOrEqual(1.1);
  expect(change).toMatchObject({ calls: 3, enumerations: 0 });
  expect(again).toMatchObject({ calls: 0 });
  expect(look).toMatchObject({ calls: 1, enumerations: 0 });
});
