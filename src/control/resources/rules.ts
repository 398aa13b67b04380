import { canonicalIp, isHostName, parseCidr, parseHostPort } from "../../core/model/address.ts";
import { isPeerPattern, PEER_PATTERN_FORM } from "../../core/model/peer-pattern.ts";
import type { Rule } from "./fields.ts";

export const AN_IP: Rule = { spell: canonicalIp, expected: "an IPv4 or IPv6 address" };

export const A_NETWORK: Rule = {
  spell: (text) => parseCidr(text)?.text,
  expected: "a network such as 10.0.0.0/8 or fd00::/8",
};

export const A_RESOLVER: Rule = {
  spell: (text) => {
    const isResolver = canonicalIp(text) ?? canonicalIp(parseHostPort(text)?.host ?? "");
    return isResolver === undefined ? undefined : text;
  },
  expected: "the address of a resolver: IP, IP:PORT or [IPV6]:PORT",
};

export const A_PATH: Rule = matching(/^\/\S*$/, "a path that begins with / and has no spaces");

export const A_STATUS: Rule = matching(
  /^[1-5](?:xx|\d\d)$/,
  "a class such as 2xx or a code such as 204",
);

export const AN_HTTP_METHOD: Rule = matching(/^[A-Z]{1,20}$/, "a method such as GET or HEAD");

export const A_HOST: Rule = {
  spell: (text) => (isHostName(text) || canonicalIp(text) !== undefined ? text : undefined),
  expected: "a host name",
};

/** `a.example`, `*.example`, `*`. */
export const A_HOST_PATTERN: Rule = {
  spell: (text) => {
    const plain = text.startsWith("*.") ? text.slice(2) : text;
    return text === "*" || A_HOST.spell(plain) !== undefined ? text : undefined;
  },
  expected: "a host name, *.DOMAIN for its sub-domains, or * for any",
};

export const A_PEER: Rule = {
  spell: (text) => (isPeerPattern(text) ? text : undefined),
  expected: PEER_PATTERN_FORM,
};

function matching(pattern: RegExp, expected: string): Rule {
  return { spell: (text) => (pattern.test(text) ? text : undefined), expected };
}
