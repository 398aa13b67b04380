import { createPrivateKey, createPublicKey, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type GeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import * as z from "zod";
import { CoreError } from "../../core/errors.ts";
import { pinOf } from "./pin.ts";
import { formatIdentity, type Identity } from "./spiffe-id.ts";

/** What an authority is: whoever has it can name anybody. */
export interface AuthorityKeys {
  readonly trustDomain: string;
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
}

export const authorityKeysSchema: z.ZodType<AuthorityKeys> = z.strictObject({
  trustDomain: z.string(),
  certificate: z.string(),
  privateKey: z.string(),
});

export interface SigningRequest {
  readonly identity: Identity;
  /** PEM, SPKI. */
  readonly publicKey: string;
  /** Names and addresses that it may also be reached by. */
  readonly hosts: readonly string[];
  readonly nowMs: number;
  readonly lifetimeMs: number;
}

export interface SignedCertificate {
  /** PEM. */
  readonly certificate: string;
  readonly expiresMs: number;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const YEAR_MS = 31_557_600_000;
const AUTHORITY_YEARS = 10;
/** Clocks differ: a certificate holds from a little before it is made. */
const SKEW_MS = 300_000;
const SERIAL_BYTES = 16;
/** No clock that is right says less: this program was not there yet. */
const FIRST_DAY_MS = Date.UTC(2026, 0, 1);

/**
 * Makes a new authority, which signs itself.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where the clock is plainly wrong: what it signs would end with it, years too early
 */
export async function createAuthority(trustDomain: string, nowMs: number): Promise<AuthorityKeys> {
  assertClockIsSet(nowMs);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const name = `CN=Portolan authority of ${trustDomain}`;
  const certificate = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: name,
    issuer: name,
    notBefore: new Date(nowMs - SKEW_MS),
    notAfter: new Date(nowMs + AUTHORITY_YEARS * YEAR_MS),
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const der = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  const key = createPrivateKey({ key: Buffer.from(der), format: "der", type: "pkcs8" });
  return {
    trustDomain,
    certificate: certificate.toString("pem"),
    privateKey: String(key.export({ format: "pem", type: "pkcs8" })),
  };
}

/** Signs certificates of nodes and managers: short ones, so that nobody has to be told of one that is not good any more. */
export class Authority {
  readonly trustDomain: string;
  /** PEM. */
  readonly certificate: string;
  /** What a join token knows it by. */
  readonly pin: string;
  readonly #signer: X509Certificate;
  readonly #key: webcrypto.CryptoKey;

  /** @throws CoreError ERR_STATE_INVALID where the keys can not be read */
  static async open({ trustDomain, certificate, privateKey }: AuthorityKeys): Promise<Authority> {
    try {
      const der = createPrivateKey(privateKey).export({ format: "der", type: "pkcs8" });
      const key = await webcrypto.subtle.importKey("pkcs8", der, ALGORITHM, false, ["sign"]);
      return new Authority(trustDomain, new X509Certificate(certificate), key);
    } catch (cause) {
      throw new CoreError(
        "ERR_STATE_INVALID",
        "the authority of the manager can not be read; expected its certificate and key in PEM",
        { cause },
      );
    }
  }

  private constructor(trustDomain: string, signer: X509Certificate, key: webcrypto.CryptoKey) {
    this.trustDomain = trustDomain;
    this.#signer = signer;
    this.#key = key;
    this.certificate = signer.toString("pem");
    this.pin = pinOf(Buffer.from(signer.rawData));
  }

  /** @throws CoreError ERR_STATE_INVALID where the key is none that can be signed */
  async sign(request: SigningRequest): Promise<SignedCertificate> {
    const { identity, hosts, nowMs, lifetimeMs } = request;
    const publicKey = await importPublicKey(request.publicKey);
    const expiresMs = Math.min(nowMs + lifetimeMs, this.#signer.notAfter.getTime());
    const names: GeneralNameInput[] = [
      { type: "url", value: formatIdentity({ ...identity, trustDomain: this.trustDomain }) },
      ...hosts.map((value): GeneralNameInput => ({ type: isIP(value) ? "ip" : "dns", value })),
    ];
    const certificate = await X509CertificateGenerator.create({
      serialNumber: newSerial(),
      subject: `CN=${identity.name === "" ? identity.kind : identity.name}`,
      issuer: this.#signer.subject,
      notBefore: new Date(nowMs - SKEW_MS),
      notAfter: new Date(expiresMs),
      publicKey,
      signingKey: this.#key,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth, ExtendedKeyUsage.serverAuth]),
        new SubjectAlternativeNameExtension(names),
        await AuthorityKeyIdentifierExtension.create(this.#signer.publicKey),
      ],
    });
    return { certificate: certificate.toString("pem"), expiresMs };
  }
}

function assertClockIsSet(nowMs: number): void {
  if (nowMs >= FIRST_DAY_MS) return;
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    `the clock of this machine says ${day(nowMs)}, and an authority that is made now would end ${AUTHORITY_YEARS} years after that; expected ${day(FIRST_DAY_MS)} or later: set the clock (date -s, or a time service such as chrony or systemd-timesyncd), then start again`,
  );
}

type GeneralNameInput = Pick<GeneralName, "type" | "value">;

async function importPublicKey(pem: string): Promise<webcrypto.CryptoKey> {
  try {
    const key = createPublicKey(pem);
    const der = key.export({ format: "der", type: "spki" });
    return await webcrypto.subtle.importKey("spki", der, ALGORITHM, true, ["verify"]);
  } catch (cause) {
    throw new CoreError(
      "ERR_STATE_INVALID",
      "publicKey: it can not be read; expected a public key on the curve P-256, in PEM",
      { cause },
    );
  }
}

function newSerial(): string {
  const bytes = Buffer.from(webcrypto.getRandomValues(new Uint8Array(SERIAL_BYTES)));
  // Positive, and of full length.
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}
