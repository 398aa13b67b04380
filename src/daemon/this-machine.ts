import process from "node:process";
import type { Machine } from "../backends/backend.ts";

const ROOT = 0;

/** The machine that this process runs on. */
export function readThisMachine(): Machine {
  return { os: process.platform, isRoot: process.getuid?.() === ROOT };
}
