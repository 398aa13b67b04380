import { generateKeyPairSync } from "node:crypto";
import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { IssuedTls } from "../api-gate.ts";
import type { Authority } from "../identity/authority.ts";

export interface ServerIdentityOptions {
  readonly authority: Authority;
  /** Names and addresses that clients come by. */
  readonly hosts: readonly string[];
  readonly lifetimeMs: number;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** Where it fails, so long after it is tried again. */
const RETRY_MS = 10_000;
/** So often it is seen whether the clock was set: a machine may start with a wrong one, and learn the time later. */
const LOOK_MS = 60_000;

/** The certificate of a manager, which it gives itself, and anew long before it ends. The key is never written. */
export class ServerIdentity implements IssuedTls {
  readonly #options: ServerIdentityOptions;
  readonly #publicKey: string;
  readonly #key: string;
  #cert = "";
  #onRenewed: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #issuedMs = 0;

  static async create(options: ServerIdentityOptions): Promise<ServerIdentity> {
    const identity = new ServerIdentity(options);
    await identity.#issue();
    return identity;
  }

  private constructor(options: ServerIdentityOptions) {
    this.#options = options;
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#publicKey = String(publicKey.export({ format: "pem", type: "spki" }));
    this.#key = String(privateKey.export({ format: "pem", type: "pkcs8" }));
  }

  readonly current = (): { cert: string; key: string; ca: string } => {
    const ca = this.#options.authority.certificate;
    // With the authority's own: that is how a node with a join token knows it.
    return { cert: `${this.#cert}\n${ca}`, key: this.#key, ca };
  };

  readonly onRenewed = (listener: () => void): void => {
    this.#onRenewed = listener;
  };

  close(): void {
    clearTimeout(this.#timer);
  }

  async #issue(): Promise<void> {
    const { authority, hosts, lifetimeMs, nowMs } = this.#options;
    const issuedMs = nowMs();
    const { certificate } = await authority.sign({
      identity: { trustDomain: authority.trustDomain, kind: "manager", name: "" },
      publicKey: this.#publicKey,
      hosts,
      nowMs: issuedMs,
      lifetimeMs,
    });
    this.#cert = certificate;
    this.#issuedMs = issuedMs;
    this.#onRenewed();
    this.#look();
  }

  /** By the clock that clients go by, whatever it was set to meanwhile. */
  #look(): void {
    const { lifetimeMs, nowMs } = this.#options;
    const ageMs = nowMs() - this.#issuedMs;
    const leftMs = (lifetimeMs * 2) / 3 - ageMs;
    if (ageMs < 0 || leftMs <= 0) this.#renew();
    else this.#wait(Math.min(leftMs, LOOK_MS), () => this.#look());
  }

  #renew(): void {
    this.#issue().catch((error: unknown) => {
      this.#options.log.error({ err: error }, `the manager's certificate: ${messageOf(error)}`);
      this.#wait(RETRY_MS, () => this.#renew());
    });
  }

  #wait(ms: number, act: () => void): void {
    this.#timer = setTimeout(act, ms);
    this.#timer.unref();
  }
}
