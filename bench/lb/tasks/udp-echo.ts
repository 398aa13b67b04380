/** `udp-echo PORT`: sends every datagram back to where it came from. */
import type { DatagramFd, DatagramPeer, PeerKey } from "../../../src/net/fd.ts";
import type { ReadyHandler } from "../../../src/net/selector-event-loop.ts";
import { ipAddress } from "../../../src/platform/socket-address.ts";
import { createPosixLoop } from "./posix-loop.ts";

const HOST = "127.0.0.1";
/** Bursts of all sessions at once must fit. */
const BUFFER_BYTES = 8_388_608;

class Echo implements ReadyHandler {
  readonly #fd: DatagramFd;
  readonly #peers = new Map<PeerKey, DatagramPeer>();

  constructor(fd: DatagramFd) {
    this.#fd = fd;
  }

  onReady(): void {
    while (this.#fd.readable) {
      const count = this.#fd.receive();
      for (let index = 0; index < count; index += 1) this.#fd.forward(index, this.#peer(index));
      this.#fd.flush();
    }
  }

  onRemoved(): void {}

  #peer(index: number): DatagramPeer {
    const key = this.#fd.senderKey(index);
    const known = this.#peers.get(key);
    if (known !== undefined) return known;
    const peer = this.#fd.sender(index);
    this.#peers.set(key, peer);
    return peer;
  }
}

const net = createPosixLoop();
const port = Number(process.argv[2]);
const options = { bufferBytes: BUFFER_BYTES };
const fd = net.provider.bindDatagram(ipAddress(HOST, port), options);
if (fd.finishOpen() !== 0) throw new Error(`port ${port} can not be had`);
net.loop.add(fd, new Echo(fd));
net.loop.run();
