/**
 * Who may be at the other end of a TLS connection, by the identity in its certificate: `spiffe://DOMAIN/PATH`,
 * `.../*` for all below it, and `!` before what may not. The first pattern that fits decides.
 */
export const PEER_PATTERN_FORM =
  "an identity such as spiffe://portolan/service/default/web, .../* for all below it, or ! and one of these for who may not";

/** More is a list that nobody reads. */
export const MAX_PEERS = 1000;

const SEGMENT = "[A-Za-z0-9._-]+";
const FORM = new RegExp(`^!?spiffe://[a-z0-9._-]+(?:/${SEGMENT})*(?:/\\*)?$`);
const MAX_LENGTH = 2048;

export function isPeerPattern(text: string): boolean {
  return text.length <= MAX_LENGTH && FORM.test(text);
}

/** Whether an identity is let in; who is in none of the patterns is not. */
export function allowsPeer(patterns: readonly string[], identity: string): boolean {
  for (const pattern of patterns) {
    const isDenied = pattern.startsWith("!");
    if (fits(isDenied ? pattern.slice(1) : pattern, identity)) return !isDenied;
  }
  return false;
}

function fits(pattern: string, identity: string): boolean {
  return pattern.endsWith("/*") ? identity.startsWith(pattern.slice(0, -1)) : identity === pattern;
}
