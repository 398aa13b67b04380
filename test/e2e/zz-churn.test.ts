import { test } from "vitest";
import { churnEngine } from "./proxy-churn.ts";
test("x", async () => { const t = performance.now(); const r = await churnEngine({ rounds: 100, perSecond: 5000 }); console.log(r, (performance.now() - t) / 1000, "s"); }, 500000);
