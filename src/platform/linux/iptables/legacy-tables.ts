import { existsSync, readFileSync } from "node:fs";
import { CoreError, messageOf } from "../../../core/errors.ts";
import type { Family } from "../../../core/model/address.ts";

/** Of the network namespace that this thread is in. */
const PATHS: Readonly<Record<Family, string>> = {
  v4: "/proc/thread-self/net/ip_tables_names",
  v6: "/proc/thread-self/net/ip6_tables_names",
};

/**
 * The tables that the legacy tools of iptables made here; none where the kernel has no such tables.
 * @throws CoreError ERR_SYSTEM_CALL where it does not tell everyone
 */
export function readLegacyTables(family: Family, path: string = PATHS[family]): readonly string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((name) => name !== "");
  } catch (cause) {
    if (!existsSync(path)) return [];
    throw new CoreError("ERR_SYSTEM_CALL", messageOf(cause), { cause });
  }
}
