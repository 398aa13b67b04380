import { CoreError } from "../../core/errors.ts";

/** Who a certificate is for, as the URI in it says: `spiffe://portolan/node/edge-1`. */
export interface Identity {
  readonly trustDomain: string;
  /** What sort of thing it is: `node`, `manager`, `service`. */
  readonly kind: string;
  /** Empty where there is one of its kind; of a service NAMESPACE/NAME. */
  readonly name: string;
}

export const SERVICE_KIND = "service";
const SEGMENT = /^[A-Za-z0-9._-]{1,253}$/;
const TRUST_DOMAIN = /^[a-z0-9._-]{1,253}$/;
const FORM = /^spiffe:\/\/([^/]+)\/([^/]+)(?:\/(.+))?$/;

/** What a name in an identity may have; `.` and `..` would be paths. */
export function isIdentityName(name: string): boolean {
  return SEGMENT.test(name) && name !== "." && name !== "..";
}

export function isTrustDomain(text: string): boolean {
  return TRUST_DOMAIN.test(text);
}

/** @throws CoreError ERR_STATE_INVALID where a part of it can not stand in a URI */
export function formatIdentity({ trustDomain, kind, name }: Identity): string {
  const parts = name === "" ? [kind] : [kind, ...segmentsOf(kind, name)];
  const wrong = parts.find((part) => !isIdentityName(part));
  if (wrong !== undefined || !isTrustDomain(trustDomain)) {
    throw new CoreError(
      "ERR_STATE_INVALID",
      `"${wrong ?? trustDomain}" can not be the name of an identity; expected letters, digits, ".", "_" and "-"`,
    );
  }
  return `spiffe://${trustDomain}/${parts.join("/")}`;
}

/** Undefined where it is no identity of this form. */
export function parseIdentity(uri: string): Identity | undefined {
  const [, trustDomain = "", kind = "", name = ""] = FORM.exec(uri) ?? [];
  const isGood = isTrustDomain(trustDomain) && isIdentityName(kind);
  const isNamed = name === "" || segmentsOf(kind, name).every(isIdentityName);
  return isGood && isNamed ? { trustDomain, kind, name } : undefined;
}

/**
 * The one identity that a certificate names.
 * @param names as Node gives them: `URI:spiffe://portolan/node/a, DNS:a`
 */
export function identityOf(names: string | undefined): Identity | undefined {
  const uris = (names ?? "").split(", ").filter((name) => name.startsWith("URI:"));
  const [uri, ...others] = uris;
  return uri === undefined || others.length > 0 ? undefined : parseIdentity(uri.slice(4));
}

/** A service has a namespace before its name; nothing else has two parts. */
function segmentsOf(kind: string, name: string): readonly string[] {
  const slash = name.indexOf("/");
  if (kind !== SERVICE_KIND || slash < 0) return [name];
  return [name.slice(0, slash), name.slice(slash + 1)];
}
