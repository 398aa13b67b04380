import { expect, test } from "vitest";
import { previewFast } from "./preview-fast.ts";

test.each([
  ["eth0, cali1", ["eth0", "cali1"]],
  ["links that come", []],
])("says at which links programs would be: %s", async (words, names) => {
  expect(await previewFast("auto", async () => ({ kind: "links", names }))).toEqual([
    `would let packets of TCP connections that it translates pass without the rules: ${words}`,
  ]);
});

test("says why there would be none, and nothing where none is wanted", async () => {
  const probe = async () => ({ kind: "obstacle", what: "Linux 5", remedy: "boot 6.6" }) as const;
  expect(await previewFast("auto", probe)).toEqual(["no fast path: Linux 5; boot 6.6"]);
  expect(await previewFast("on", probe)).toEqual([
    "would not start: --fast-path on: Linux 5; boot 6.6",
  ]);
  expect(await previewFast("off", probe)).toEqual([]);
});
