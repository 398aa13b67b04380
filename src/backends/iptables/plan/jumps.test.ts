import { expect, test } from "vitest";
import { isKubeJump } from "../../kube-jumps.ts";
import { JUMPS } from "./jumps.ts";

test.each([...JUMPS])("jumps at %s are known as ours", (hook, jumps) => {
  expect(jumps.filter((rule) => !isKubeJump(hook, rule))).toEqual([]);
});
