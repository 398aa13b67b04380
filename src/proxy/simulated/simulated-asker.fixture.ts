import type { DatagramFd } from "../../net/fd.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelId, ReadyHandler } from "../../net/selector-event-loop.ts";
import { ipAddress, type SocketAddress } from "../../platform/socket-address.ts";

export interface AskerResult {
  readonly asked: number;
  readonly answered: number;
  /** What must never be: answers to what somebody else asked. */
  readonly wrong: string;
}

const PAUSE_MS = 500;

/** A client that sends datagrams, and knows its own when they come back. */
export class SimulatedAsker implements ReadyHandler {
  readonly #net: NetEventLoop;
  readonly #fd: DatagramFd;
  readonly #id: ChannelId;
  readonly #name: string;
  readonly #count: number;
  readonly #onEnd: (result: AskerResult) => void;
  #asked = 0;
  #answered = 0;
  #wrong = "";

  constructor(
    net: NetEventLoop,
    options: { readonly ip: string; readonly to: SocketAddress; readonly id: number },
    count: number,
    onEnd: (result: AskerResult) => void,
  ) {
    this.#net = net;
    this.#name = `asker ${options.id} `;
    this.#count = count;
    this.#onEnd = onEnd;
    this.#fd = net.provider.bindDatagram(ipAddress(options.ip, 0), { connectTo: options.to });
    this.#id = net.loop.add(this.#fd, this);
    this.#ask();
  }

  onReady(): void {
    while (this.#fd.readable) {
      const count = this.#fd.receive();
      for (let index = 0; index < count; index += 1) {
        const text = Buffer.from(this.#fd.datagram(index)).toString();
        this.#answered += 1;
        if (!text.startsWith(this.#name)) this.#wrong = `${this.#name}was told "${text}"`;
      }
    }
  }

  onRemoved(): void {
    this.#fd.close();
  }

  #ask(): void {
    if (this.#asked === this.#count) {
      this.#fd.close();
      this.#net.loop.remove(this.#id);
      this.#onEnd({ asked: this.#asked, answered: this.#answered, wrong: this.#wrong });
      return;
    }
    this.#fd.queue(Buffer.from(`${this.#name}${this.#asked}`));
    this.#fd.flush();
    this.#asked += 1;
    this.#net.loop.delay(PAUSE_MS, () => this.#ask());
  }
}
