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
/** A longer time than this is more than a timer can hold. */
const MAX_TIMER_MS = 86_400_000;

/** The certificate of a manager, which it gives itself, and anew long before it ends. The key is never written. */
export class ServerIdentity implements IssuedTls {
  readonly #options: ServerIdentityOptions;
  readonly #publicKey: string;
  readonly #key: string;
  #cert = "";
  #onRenewed: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;

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
    const { certificate } = await authority.sign({
      identity: { trustDomain: authority.trustDomain, kind: "manager", name: "" },
      publicKey: this.#publicKey,
      hosts,
      nowMs: nowMs(),
      lifetimeMs,
    });
    this.#cert = certificate;
    this.#onRenewed();
    this.#scheduleIn(Math.min((lifetimeMs * 2) / 3, MAX_TIMER_MS));
  }

  #scheduleIn(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#issue().catch((error: unknown) => {
        this.#options.log.error({ err: error }, `the manager's certificate: ${messageOf(error)}`);
        this.#scheduleIn(RETRY_MS);
      });
    }, ms);
    this.#timer.unref();
  }
}
