import { CoreError, messageOf } from "../../core/errors.ts";
import type { Family } from "../../core/model/address.ts";
import type { Exec } from "../../platform/linux/exec.ts";
import { type IptablesMode, tryTool } from "../../platform/linux/iptables/iptables-tool.ts";
import type { Sysctl } from "../../platform/linux/sysctl.ts";
import { familiesOf } from "../kernel-facts.ts";

export interface WritableFamilies {
  readonly families: readonly Family[];
  /** Why IPv6 is not among them, in words. */
  readonly withoutV6?: string;
}

/**
 * The families whose rules this implementation can change. A node without IPv6 is served by IPv4.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where not even those of IPv4 can be
 */
export async function writableFamilies(
  mode: IptablesMode,
  exec: Exec,
  sysctl: Pick<Sysctl, "read">,
): Promise<WritableFamilies> {
  try {
    await tryTool("v4", mode, exec);
  } catch (cause) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `rules can not be changed by iptables-${mode}: ${messageOf(cause)}; install its tools and boot a kernel that knows its tables, or use the other one (--iptables-mode)`,
      { cause },
    );
  }
  const families = await familiesOf(sysctl);
  if (!families.includes("v6")) return { families, withoutV6: "this kernel has no IPv6" };
  try {
    await tryTool("v6", mode, exec);
    return { families };
  } catch (error) {
    return { families: ["v4"], withoutV6: messageOf(error) };
  }
}
