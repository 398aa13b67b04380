import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { canonicalIp } from "../../core/model/address.ts";

/** All addresses of a name, as the system knows them; rejects where there are none. */
export async function lookUp(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => canonicalIp(address)).filter((ip) => ip !== undefined);
}

/** Does not keep the process from ending. */
export async function sleepUnheld(ms: number): Promise<void> {
  await sleep(ms, undefined, { ref: false });
}
