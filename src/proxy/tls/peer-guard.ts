import { X509Certificate } from "node:crypto";
import { allowsPeer } from "../../core/model/peer-pattern.ts";

/** What is known of a certificate that was shown. */
interface KnownPeer {
  /** Undefined where it names none, or several. */
  readonly identity: string | undefined;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** A mesh has not many more neighbours; their certificates come again and again. */
const MAX_KNOWN = 256;

/**
 * Decides by the identity in a certificate, of which the authority was checked before, who may be at the other
 * end. A resumed session brings the certificate of its first handshake: so its time is looked at each time.
 */
export class PeerGuard {
  readonly #patterns: readonly string[];
  readonly #nowMs: () => number;
  readonly #known = new Map<string, KnownPeer>();

  /** @param nowMs the time of day */
  constructor(patterns: readonly string[], nowMs: () => number) {
    this.#patterns = patterns;
    this.#nowMs = nowMs;
  }

  /**
   * Why a peer is not let in; undefined where it is.
   * @param shown gives its certificate, DER
   */
  refusalOf(shown: () => Buffer | undefined): string | undefined {
    if (this.#patterns.length === 0) return undefined;
    const certificate = shown();
    if (certificate === undefined) return "no certificate was shown";
    const { identity, fromMs, untilMs } = this.#read(certificate);
    const nowMs = this.#nowMs();
    if (identity === undefined) return "the certificate names no identity (a URI spiffe://...)";
    if (nowMs > untilMs) return `the certificate of ${identity} has expired`;
    if (nowMs < fromMs) return `the certificate of ${identity} is not good yet`;
    return allowsPeer(this.#patterns, identity) ? undefined : `${identity} is not allowed`;
  }

  #read(certificate: Buffer): KnownPeer {
    const key = certificate.toString("latin1");
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const { subjectAltName, validFrom, validTo } = new X509Certificate(certificate);
    const read = {
      identity: identityIn(subjectAltName),
      fromMs: Date.parse(validFrom),
      untilMs: Date.parse(validTo),
    };
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(key, read);
    return read;
  }
}

/** One alone: who has two could pass for either. */
function identityIn(names: string | undefined): string | undefined {
  const uris = (names ?? "").split(", ").filter((name) => name.startsWith("URI:"));
  const [uri, ...others] = uris.map((name) => name.slice("URI:".length));
  return others.length === 0 && uri?.startsWith("spiffe://") ? uri : undefined;
}
