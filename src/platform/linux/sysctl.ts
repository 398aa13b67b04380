import { readFile, writeFile } from "node:fs/promises";
import { CoreError, messageOf } from "../../core/errors.ts";

/** Settings of the kernel; those under `net` are of this process's network namespace. */
export interface Sysctl {
  /** Undefined where the kernel has no such setting. @param name as in `net.ipv4.ip_forward` */
  read(name: string): Promise<string | undefined>;
  /**
   * Sets it where it has another value, and tells whether it had.
   * @throws CoreError ERR_SYSTEM_CALL
   */
  ensure(name: string, value: string): Promise<boolean>;
}

export const systemSysctl: Sysctl = {
  read,
  ensure: async (name, value) => {
    if ((await read(name)) === value) return false;
    try {
      await writeFile(pathOf(name), value);
    } catch (cause) {
      const why = messageOf(cause);
      throw new CoreError("ERR_SYSTEM_CALL", `sysctl ${name}: can not be set to ${value}: ${why}`, {
        cause,
      });
    }
    return true;
  },
};

async function read(name: string): Promise<string | undefined> {
  try {
    return (await readFile(pathOf(name), "utf8")).trim();
  } catch {
    return undefined;
  }
}

function pathOf(name: string): string {
  return `/proc/sys/${name.replaceAll(".", "/")}`;
}
