import type { Log } from "../../core/log.ts";
import type { Sysctl } from "./sysctl.ts";

const ROUTE_LOCALNET = "net.ipv4.conf.all.route_localnet";

/** What `LoopbackOpener` would do, as a line for people; empty where there is nothing to do. */
export async function planLoopback({ read }: Pick<Sysctl, "read">): Promise<string> {
  return (await read(ROUTE_LOCALNET)) === "1" ? "" : `# sysctl -w ${ROUTE_LOCALNET}=1\n`;
}

/**
 * Lets rules send packets for loopback addresses elsewhere, which the kernel drops otherwise. Others on
 * the network could then reach what listens on loopback only: whoever calls this keeps them away.
 */
export class LoopbackOpener {
  readonly #sysctl: Pick<Sysctl, "ensure">;
  readonly #log: Log;
  readonly #backend: string;
  #isOpened = false;

  constructor(sysctl: Pick<Sysctl, "ensure">, log: Log, backend: string) {
    this.#sysctl = sysctl;
    this.#log = log;
    this.#backend = backend;
  }

  /** To be called again and again: others may close it. @throws CoreError ERR_SYSTEM_CALL */
  async open(): Promise<void> {
    const hadAnother = await this.#sysctl.ensure(ROUTE_LOCALNET, "1");
    if (hadAnother) this.#tell();
    this.#isOpened = true;
  }

  #tell(): void {
    const what = { backend: this.#backend };
    if (this.#isOpened) {
      this.#log.warn(what, `${ROUTE_LOCALNET} was altered by others, and is set to 1 again`);
    } else {
      this.#log.info(what, `${ROUTE_LOCALNET} was set to 1, so that services answer on 127.0.0.1`);
    }
  }
}
