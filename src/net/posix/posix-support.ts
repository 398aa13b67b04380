import { abiOf } from "../../platform/linux/abi.ts";

/**
 * Why the `posix` provider can not be used here, and what to do about it; undefined where it can. The
 * `node` provider takes its place then.
 */
export async function posixProblem(machine: {
  readonly platform: string;
  readonly arch: string;
}): Promise<string | undefined> {
  if (machine.platform !== "linux") {
    return `event loops on system calls need Linux, this is ${machine.platform}`;
  }
  if (abiOf(machine.arch) === undefined) {
    return `event loops on system calls need an x64 or arm64 processor, this is ${machine.arch}`;
  }
  try {
    await import("../../platform/linux/binding.ts");
    return undefined;
  } catch (error) {
    return `system calls can not be reached (${String(error)}); install the package koffi for this machine`;
  }
}
