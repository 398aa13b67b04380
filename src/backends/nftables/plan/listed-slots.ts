import type { NftListing } from "../../../platform/linux/nft/parse-listing.ts";
import { FIRST_SLOT } from "./chains.ts";
import { parseClassId } from "./class-id.ts";
import type { Slots } from "./compile-frontend.ts";
import { NAMES } from "./containers.ts";
import type { Target } from "./frontend.ts";

const DOT = " . ";
const COLON = " : ";

/** The slots that a table holds, by the key of their frontend. */
export function slotsIn(listing: NftListing): ReadonlyMap<string, Slots> {
  const whole = listSlots(listing, NAMES.endpoints, NAMES.choices);
  const local = listSlots(listing, NAMES.localEndpoints, NAMES.localChoices);
  const found = new Map<string, Slots>();
  for (const key of new Set([...whole.keys(), ...local.keys()])) {
    found.set(key, { whole: whole.get(key) ?? [], local: local.get(key) ?? [] });
  }
  return found;
}

function listSlots(
  listing: NftListing,
  endpoints: string,
  choices: string,
): ReadonlyMap<string, readonly Target[]> {
  const slots = new Map<string, Target[]>();
  const put = (service: string, key: string, target: Target): void => {
    const slot = parseClassId(key.slice(service.length + DOT.length));
    if (slot === undefined) return;
    const own = slots.get(service) ?? [];
    own[slot - FIRST_SLOT] = target;
    slots.set(service, own);
  };
  const sticky = new Set<string>();
  for (const [key] of pairsOf(listing, choices)) sticky.add(serviceIn(key));
  /** With affinity, targets stand under their numbers. */
  const numbered = new Map<string, Target>();
  for (const [key, target] of pairsOf(listing, endpoints)) {
    const service = serviceIn(key);
    if (sticky.has(service)) numbered.set(key, target);
    else put(service, key, target);
  }
  for (const [key, id] of pairsOf(listing, choices)) {
    const service = serviceIn(key);
    const target = numbered.get(`${service}${DOT}${id}`);
    if (target !== undefined) put(service, key, target);
  }
  return slots;
}

/** A key without what comes last in it. */
function serviceIn(key: string): string {
  return key.slice(0, key.lastIndexOf(DOT));
}

function* pairsOf({ containers }: NftListing, name: string): Generator<readonly [string, string]> {
  for (const element of containers.get(name)?.elements ?? []) {
    const at = element.indexOf(COLON);
    if (at > 0) yield [element.slice(0, at), element.slice(at + COLON.length)];
  }
}
