import { test } from "vitest";
import { restartBrain } from "./kube-brain.ts";

test("five agents through two restarts of the brain never have a wrong state", async () => {
  await restartBrain(5, 2);
}, 90_000);
