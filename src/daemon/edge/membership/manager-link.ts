import { ManagerClient } from "../../../brain/manager/client/manager-client.ts";
import { membershipFiles } from "../../../brain/manager/client/node-membership.ts";
import { abortable } from "../../../core/abortable.ts";
import { CoreError, messageOf } from "../../../core/errors.ts";
import type { ListenAddress } from "../../../core/options/listen-address.ts";

/** A manager that takes longer counts as one that does not answer: what waits for it goes on. */
const CALL_MS = 3000;

/** Calls to a manager as this node; the connection is made when it is needed, and made again. */
export class ManagerLink {
  readonly #address: ListenAddress;
  readonly #folder: string;
  #client: Promise<ManagerClient> | undefined;

  constructor(address: ListenAddress, folder: string) {
    this.#address = address;
    this.#folder = folder;
  }

  /** @throws CoreError ERR_API_UNREACHABLE, and what the manager refuses it with */
  async call(method: string, request: object): Promise<unknown> {
    const signal = AbortSignal.timeout(CALL_MS);
    try {
      const client = await abortable(this.#connected(), signal);
      return await abortable(client.call(method, request), signal);
    } catch (cause) {
      if (isAnswer(cause)) throw cause;
      this.drop();
      const why = signal.aborted ? `no answer within ${CALL_MS} ms` : messageOf(cause);
      throw new CoreError("ERR_API_UNREACHABLE", why, { cause });
    }
  }

  /** The next call makes a new connection, with the certificate that is there then. */
  drop(): void {
    const client = this.#client;
    this.#client = undefined;
    void client?.then(
      (open) => open.close(),
      () => undefined,
    );
  }

  async #connected(): Promise<ManagerClient> {
    const there = await this.#client?.catch(() => undefined);
    if (there?.isOpen === true) return there;
    this.#client = ManagerClient.connect({
      address: this.#address,
      tls: membershipFiles(this.#folder),
    });
    return this.#client;
  }
}

/** Whether the manager itself said so. */
function isAnswer(error: unknown): boolean {
  return (
    error instanceof CoreError &&
    error.code !== "ERR_API_UNREACHABLE" &&
    error.code !== "ERR_ABORTED"
  );
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof CoreError && error.code === "ERR_API_UNREACHABLE";
}
