import { expect, test } from "vitest";
import { LiveInstance } from "../table/live-instance.ts";
import { FlowPlaces } from "./flow-places.ts";

function instance(number: number): LiveInstance {
  return new LiveInstance("shop/web", { number, node: "b", addresses: [], weight: 1 });
}

test("flows to one place share a number, and the last one that leaves frees it", () => {
  const places = new FlowPlaces<string>();
  const [one, two] = [instance(1), instance(2)];
  const first = places.take(one, "b");
  expect(places.take(one, "b")).toBe(first);
  const elsewhere = places.take(one, "c");
  const other = places.take(two, "b");
  expect(new Set([first, elsewhere, other]).size).toBe(3);
  expect(places.at(elsewhere)).toMatchObject({ instance: one, target: "c" });
  places.release(first);
  expect(places.at(first)).toMatchObject({ instance: one, target: "b" });
  places.release(first);
  expect(() => places.at(first)).toThrow("no flow goes to place");
  expect(places.take(two, "d")).toBe(first);
  expect(places.size).toBe(3);
});
