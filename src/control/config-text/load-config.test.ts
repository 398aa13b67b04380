import { expect, test } from "vitest";
import { parseObject } from "../../core/model/parse.ts";
import { MemoryWorld } from "../control-world.fixture.ts";
import { loadConfig, MAX_STEPS } from "./load-config.ts";
import type { ConfigStep } from "./read-config.ts";

test("more than others could wait for is not loaded at once, and nothing of it", async () => {
  const world = new MemoryWorld();
  const object = parseObject({ kind: "Group", name: "g" });
  const step: ConfigStep = { kind: "object", object, at: "/site.conf:1" };
  const steps = Array.from({ length: MAX_STEPS + 1 }, () => step);
  await expect(loadConfig(steps, world)).rejects.toMatchObject({
    code: "ERR_STATE_TOO_LARGE",
    message:
      "100001 commands are more than the 100000 that are loaded at once; load them in parts: each adds to what is there",
  });
  expect(world.commits).toEqual([]);
});
