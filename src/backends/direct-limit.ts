/** With more addresses than this `auto` leaves connections to the rules, and why. */
export interface DirectLimit {
  readonly addresses: number;
  readonly why: string;
}

/** In words where services have more addresses than that; undefined where they may be led to endpoints. */
export function overLimit(limit: DirectLimit | undefined, claimed: number): string | undefined {
  if (limit === undefined || claimed <= limit.addresses) return undefined;
  return `services have ${claimed} addresses, more than ${limit.addresses}: ${limit.why}; --direct-connect on does it all the same`;
}
