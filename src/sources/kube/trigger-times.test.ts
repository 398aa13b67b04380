import { expect, test } from "vitest";
import { kubeSlice } from "../../../test/support/kube-objects.ts";
import { TriggerTimes } from "./trigger-times.ts";

function sliceAt(text: string) {
  const slice = kubeSlice("web", "a", []);
  const annotations = { "endpoints.kubernetes.io/last-change-trigger-time": text };
  return { ...slice, metadata: { ...slice.metadata, annotations } };
}

test("each time is told once for each slice; what is no time is left out", () => {
  const times = new TriggerTimes();
  times.set("a", sliceAt("1970-01-01T00:00:01Z"));
  times.set("a", sliceAt("1970-01-01T00:00:01Z"));
  times.set("b", sliceAt("1970-01-01T00:00:01Z"));
  times.set("c", sliceAt("soon"));
  times.set("d", {});
  expect(times.take()).toEqual([1000, 1000]);
  times.set("a", sliceAt("1970-01-01T00:00:02Z"));
  times.delete("b");
  times.set("b", sliceAt("1970-01-01T00:00:01Z"));
  expect(times.take()).toEqual([2000, 1000]);
});
