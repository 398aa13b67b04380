import { TYPES } from "../../wire/dns/dns-words.ts";
import type { NamedService } from "../table/name-meaning.ts";
import { type EdgeNames, LOCAL_DOMAIN } from "./edge-names.ts";
import type { AddressAnswer, LocalNames } from "./mdns-announcer.ts";

/** Others are answered for, and not told of. */
export const MAX_LOCAL_NAMES = 1024;

/** What all on a link are told of: each name of a service, of its policies and of its instances, below `.local`. */
export function localNames(
  services: ReadonlyMap<string, NamedService>,
  names: Pick<EdgeNames, "answer">,
): LocalNames {
  const found = new Map<string, readonly AddressAnswer[]>();
  for (const [name, { instances }] of services) {
    const labels = ["", "rr.", "closest.", ...instances.map(({ number }) => `${number}.`)];
    for (const label of labels) {
      if (found.size >= MAX_LOCAL_NAMES) return found;
      const local = `${label}${name}${LOCAL_DOMAIN.test(name) ? "" : ".local"}`;
      const { answers = [] } = names.answer({ name: local, type: TYPES.ANY }) ?? {};
      const addresses = answers.flatMap(({ type, name: of, ...more }): AddressAnswer[] => {
        const isAddress = (type === "A" || type === "AAAA") && "data" in more;
        if (!isAddress || typeof more.data !== "string") return [];
        return [{ type, name: of, ttl: "ttl" in more ? (more.ttl ?? 0) : 0, data: more.data }];
      });
      if (addresses.length > 0) found.set(local, addresses);
    }
  }
  return found;
}
