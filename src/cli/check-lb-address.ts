import { enumerateNames } from "../backends/enumerate-names.ts";
import { readMachineAddresses } from "../backends/userspace/machine-addresses.ts";
import { canListenOn } from "../backends/userspace/node-facts.ts";
import { CoreError } from "../core/errors.ts";
import { canonicalIp } from "../core/model/address.ts";
import { formatListenAddress, type ListenAddress } from "../core/options/listen-address.ts";

/**
 * In a state for many nodes an address may be another one's; here it can only be wrong.
 * @throws CoreError ERR_LISTEN
 */
export function checkLbAddress(
  listen: ListenAddress | undefined,
  machineAddresses: ReadonlySet<string> = readMachineAddresses(),
): void {
  const ip = listen?.kind === "tcp" ? canonicalIp(listen.host) : undefined;
  if (listen === undefined || ip === undefined || canListenOn({ machineAddresses }, ip)) return;
  const own = enumerateNames([...machineAddresses].sort());
  throw new CoreError(
    "ERR_LISTEN",
    `--listen: can not listen on ${formatListenAddress(listen)}: this machine does not have the address; expected one of 0.0.0.0, ::, ${own}`,
  );
}
