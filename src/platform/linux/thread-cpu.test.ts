import { describe, expect, test } from "vitest";
import { ownThreadId, threadCpuSeconds } from "./thread-cpu.ts";

describe.runIf(process.platform === "linux")("the CPU time of threads", () => {
  test("grows by what a thread does, and is not known of one that is not there", () => {
    const id = ownThreadId() ?? 0;
    expect(id).toBeGreaterThan(0);
    const before = threadCpuSeconds(id) ?? Number.NaN;
    let sum = 0;
    for (let turn = 0; turn < 2e7; turn += 1) sum += turn % 7;
    expect(sum).toBeGreaterThan(0);
    expect(threadCpuSeconds(id)).toBeGreaterThan(before);
    expect(threadCpuSeconds(4_194_305)).toBeUndefined();
  });
});
