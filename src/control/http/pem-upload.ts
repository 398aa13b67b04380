import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { invalid, type Problem, problemsError, unknownKey } from "../../core/model/problems.ts";
import { isObject } from "./body-params.ts";

/** Certificates and a key that were sent as text. */
export interface PemUpload {
  /** Empty where the body has none. */
  readonly name: string;
  /** The whole chain, as one text. */
  readonly cert: string;
  readonly key: string;
}

const FIELDS = ["name", "certs", "key"];
const CERTS_EXPECTED = "a list of certificates as PEM texts, that of the server first";
const KEY_EXPECTED = "a private key without a passphrase, as PEM text";

/**
 * Looks at what was sent before anything is kept: certificates, key, and whether they belong together.
 * @throws CoreError ERR_USAGE with all problems, which never show a key
 */
export function readPemUpload(body: unknown): PemUpload {
  if (!isObject(body)) throw problemsError("ERR_USAGE", [invalid([], body, "a JSON object")]);
  const problems: Problem[] = Object.keys(body)
    .filter((field) => !FIELDS.includes(field))
    .map((field) => unknownKey([field], FIELDS));
  const { name = "", certs, key } = body;
  if (typeof name !== "string") problems.push(invalid(["name"], name, "a name"));
  const texts = textsOf(certs);
  const parsed = (texts ?? []).map(parseCertificate);
  if (texts === undefined) problems.push(invalid(["certs"], certs, CERTS_EXPECTED));
  for (const [index, certificate] of parsed.entries()) {
    if (certificate === undefined) {
      problems.push(invalid(["certs", index], texts?.[index], "a certificate as PEM text"));
    }
  }
  const privateKey = typeof key === "string" ? parseKey(key) : undefined;
  if (privateKey === undefined) problems.push(keyProblem(key, KEY_EXPECTED));
  const [first] = parsed;
  if (privateKey !== undefined && first?.checkPrivateKey(privateKey) === false) {
    problems.push(keyProblem(key, "the private key of the first certificate"));
  }
  if (problems.length > 0) throw problemsError("ERR_USAGE", problems);
  return {
    name: String(name),
    cert: (texts ?? []).map((text) => `${text.trim()}\n`).join(""),
    key: `${String(key).trim()}\n`,
  };
}

function textsOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.map((entry) => (typeof entry === "string" ? entry : ""));
}

function parseCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}

function parseKey(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text);
  } catch {
    return undefined;
  }
}

function keyProblem(key: unknown, expected: string): Problem {
  const problem = invalid(["key"], key, expected);
  return { ...problem, value: key === undefined ? "" : "(hidden)" };
}
