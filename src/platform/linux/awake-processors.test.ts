import { closeSync, existsSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { expect, test } from "vitest";
import { AwakeProcessors } from "./awake-processors.ts";

const DEVICE = "/dev/cpu_dma_latency";

/** What all that hold the device say together, in microseconds. */
function allowedUs(): number {
  const descriptor = openSync(DEVICE, "r");
  try {
    const bytes = Buffer.alloc(4);
    readSync(descriptor, bytes, 0, bytes.length, 0);
    return bytes.readInt32LE();
  } finally {
    closeSync(descriptor);
  }
}

function heldHere(): number {
  return readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === DEVICE;
    } catch {
      return false;
    }
  }).length;
}

test("processors wait awake while it is held, once, and may sleep after that", () => {
  const awake = new AwakeProcessors();
  if (!existsSync(DEVICE)) {
    expect(() => awake.hold()).toThrow("ENOENT");
    return;
  }
  awake.hold();
  awake.hold();
  expect([heldHere(), allowedUs()]).toEqual([1, 0]);
  awake.release();
  awake.release();
  expect(heldHere()).toBe(0);
});
