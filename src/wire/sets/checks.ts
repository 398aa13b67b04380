import { CoreError } from "../../core/errors.ts";
import { canonicalIp, isPort, parseCidr } from "../../core/model/address.ts";

const NAME = /^[^\s/]{1,253}$/;

/** The error for a field of a message that the model can not take. */
export function refused(field: string, value: unknown, expected: string): CoreError {
  return new CoreError(
    "ERR_API_PROTOCOL",
    `${field}: ${JSON.stringify(value)} is not valid; expected ${expected}`,
  );
}

export function checkedName(field: string, text: string): string {
  if (NAME.test(text)) return text;
  throw refused(field, text, "a name of 1 to 253 characters without spaces and '/'");
}

export function checkedIp(field: string, text: string): string {
  const ip = canonicalIp(text);
  if (ip !== undefined) return ip;
  throw refused(field, text, "an IPv4 or IPv6 address");
}

export function checkedCidr(field: string, text: string): string {
  const cidr = parseCidr(text);
  if (cidr !== undefined) return cidr.text;
  throw refused(field, text, "a network such as 10.0.0.0/8 or fd00::/8");
}

export function checkedPort(field: string, port: number): number {
  if (isPort(port)) return port;
  throw refused(field, port, "a whole number from 1 to 65535");
}

export function checkedOptionalPort(field: string, port: number): number {
  if (port === 0 || isPort(port)) return port;
  throw refused(field, port, "a whole number from 1 to 65535, or 0 for none");
}
