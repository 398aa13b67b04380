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
  const targets = new Map(pairsOf(listing, endpoints));
  const chosen = [...pairsOf(listing, choices)].flatMap(([key, id]) => {
    const target = targets.get(`${serviceIn(key)}${DOT}${id}`);
    return target === undefined ? [] : [[key, target] as const];
  });
  const sticky = new Set(chosen.map(([key]) => serviceIn(key)));
  const plain = [...targets].filter(([key]) => !sticky.has(serviceIn(key)));
  const slots = new Map<string, Target[]>();
  for (const [key, target] of [...plain, ...chosen]) {
    const service = serviceIn(key);
    const slot = parseClassId(key.slice(service.length + DOT.length));
    if (slot === undefined) continue;
    const own = slots.get(service) ?? [];
    own[slot - FIRST_SLOT] = target;
    slots.set(service, own);
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
