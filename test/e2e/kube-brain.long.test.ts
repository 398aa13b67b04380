import { test } from "vitest";
import { restartBrain } from "./kube-brain.ts";

test("fifty agents through ten restarts of the brain never have a wrong state", async () => {
  await restartBrain(50, 10);
}, 900_000);
