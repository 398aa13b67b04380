import { CoreError } from "../../core/errors.ts";
import type { NetEventLoop } from "../net-event-loop.ts";
import type { ChannelEntry, ChannelId } from "../selector-event-loop.ts";
import type { GroupLoop } from "./event-loop-wrapper.ts";

/** A loop on this thread, driven by the host, as groups see it. */
export class LocalLoop implements GroupLoop {
  readonly name: string;
  readonly net: NetEventLoop;
  readonly ended: Promise<{ readonly error: Error | undefined }>;
  readonly #drain: () => Promise<void>;
  #tellEnd: () => void = () => undefined;

  /** Starts the loop. `drain` settles when what is open in it has ended. */
  constructor(name: string, net: NetEventLoop, drain: () => Promise<void>) {
    this.name = name;
    this.net = net;
    this.#drain = drain;
    this.ended = new Promise((resolve) => {
      this.#tellEnd = () => resolve({ error: undefined });
    });
    net.loop.start();
  }

  get isRunning(): boolean {
    return !this.net.loop.isClosed;
  }

  async channels(): Promise<readonly ChannelEntry[]> {
    return this.net.loop.channels();
  }

  /** Rejects where it is not there any more. */
  async dismiss(id: ChannelId): Promise<void> {
    if (this.net.loop.dismiss(id)) return;
    throw new CoreError(
      "ERR_NOT_FOUND",
      `event loop ${this.name}: channel ${id.slot}/${id.generation} is not there any more`,
    );
  }

  drain(): Promise<void> {
    return this.#drain();
  }

  async stop(): Promise<void> {
    this.net.loop.close();
    this.#tellEnd();
  }
}
