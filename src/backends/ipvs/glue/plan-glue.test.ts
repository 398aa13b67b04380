import { expect, test } from "vitest";
import { isKubeJump } from "../../kube-jumps.ts";
import { GLUE_JUMPS } from "./plan-glue.ts";

test.each([...GLUE_JUMPS])("jumps at %s are known as ours", (hook, jumps) => {
  expect(jumps.filter((rule) => !isKubeJump(hook, rule))).toEqual([]);
});
