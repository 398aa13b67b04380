import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ManagerClient } from "../../../brain/manager/client/manager-client.ts";
import {
  membershipFiles,
  renewCertificate,
} from "../../../brain/manager/client/node-membership.ts";
import { abortable } from "../../../core/abortable.ts";
import { CoreError, messageOf } from "../../../core/errors.ts";
import { formatListenAddress, type ListenAddress } from "../../../core/options/listen-address.ts";
import type { ManagerRing } from "./manager-ring.ts";

/** A manager that takes longer counts as one that does not answer: what waits for it goes on. */
const CALL_MS = 3000;
/** Where there is another one to ask: a node that finds it within two of these is never taken for dead. */
const CALL_ONE_OF_SEVERAL_MS = 1500;
/** So many are asked for one call; who calls does not wait for a whole list. */
const MAX_ASKED = 3;

/** Calls to the managers as this node; the connection is made when it is needed, and made again. */
export class ManagerLink {
  readonly #ring: ManagerRing;
  readonly #folder: string;
  #connection: Connection | undefined;
  #renewing: Promise<boolean> | undefined;
  #renewals = 0;

  constructor(ring: ManagerRing, folder: string) {
    this.#ring = ring;
    this.#folder = folder;
  }

  /**
   * Asks the manager that answered last, and others where it does not. One may so be asked for what another has
   * done already: no method minds that.
   * @throws CoreError ERR_API_UNREACHABLE, and what the manager refuses it with
   */
  async call(method: string, request: object): Promise<unknown> {
    const renewals = this.#renewals;
    try {
      return await this.#ask(method, request);
    } catch (error) {
      const isOut = error instanceof CoreError && error.code === "ERR_UNAUTHORIZED";
      if (!isOut) throw error;
      const isRenewed = this.#renewals !== renewals || (await this.#isRenewedNow());
      if (!isRenewed) throw error;
      return await this.#ask(method, request);
    }
  }

  /** Whose certificate ended while it was away is heard for a new one only. */
  #isRenewedNow(): Promise<boolean> {
    this.#renewing ??= this.#renewOverdue()
      .catch(() => false)
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  async #renewOverdue(): Promise<boolean> {
    const { validTo } = new X509Certificate(await readFile(membershipFiles(this.#folder).certFile));
    if (Date.parse(validTo) > Date.now()) return false;
    await renewCertificate(this.#ring.current, this.#folder);
    this.#renewals += 1;
    this.drop();
    return true;
  }

  async #ask(method: string, request: object): Promise<unknown> {
    const ring = this.#ring;
    const failures: string[] = [];
    const limit = Math.min(ring.size, MAX_ASKED);
    for (;;) {
      const address = ring.current;
      const timeoutMs = ring.size > 1 ? CALL_ONE_OF_SEVERAL_MS : CALL_MS;
      try {
        const answer = await this.#callOne(address, timeoutMs, method, request);
        ring.answered();
        return answer;
      } catch (cause) {
        if (isAnswer(cause)) throw cause;
        failures.push(`${formatListenAddress(address)}: ${messageOf(cause)}`);
        ring.failed(address);
        if (failures.length < limit) continue;
        throw new CoreError("ERR_API_UNREACHABLE", failures.join("; "), { cause });
      }
    }
  }

  /** The next call makes a new connection, with the certificate that is there then. */
  drop(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    void connection?.client.then(
      (open) => open.close(),
      () => undefined,
    );
  }

  async #callOne(
    address: ListenAddress,
    timeoutMs: number,
    method: string,
    request: object,
  ): Promise<unknown> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const client = await abortable(this.#connected(address), signal);
      return await abortable(client.call(method, request), signal);
    } catch (cause) {
      if (isAnswer(cause)) throw cause;
      if (this.#connection?.address === address) this.drop();
      const why = signal.aborted ? `no answer within ${timeoutMs} ms` : messageOf(cause);
      throw new CoreError("ERR_API_UNREACHABLE", why, { cause });
    }
  }

  async #connected(address: ListenAddress): Promise<ManagerClient> {
    if (this.#connection?.address === address) {
      const there = await this.#connection.client.catch(() => undefined);
      if (there?.isOpen === true) return there;
    }
    this.drop();
    const tls = membershipFiles(this.#folder);
    const connection = { address, client: ManagerClient.connect({ address, tls }) };
    this.#connection = connection;
    return connection.client;
  }
}

interface Connection {
  readonly address: ListenAddress;
  readonly client: Promise<ManagerClient>;
}

/** Whether the manager itself said so. */
function isAnswer(error: unknown): boolean {
  return (
    error instanceof CoreError &&
    error.code !== "ERR_API_UNREACHABLE" &&
    error.code !== "ERR_ABORTED"
  );
}

export function isUnreachable(error: unknown): error is CoreError {
  return error instanceof CoreError && error.code === "ERR_API_UNREACHABLE";
}
