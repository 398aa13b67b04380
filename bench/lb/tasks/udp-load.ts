/**
 * `udp-load PORT SESSIONS SECONDS`: sends datagrams of 64 bytes from so many sockets in turn: for each
 * that comes back a new one, so that always the same number is under way. Prints how many were sent and
 * came back.
 */
import type { DatagramFd } from "../../../src/net/fd.ts";
import type { ReadyHandler } from "../../../src/net/selector-event-loop.ts";
import { ipAddress } from "../../../src/platform/socket-address.ts";
import { createPosixLoop } from "./posix-loop.ts";

const HOST = "127.0.0.1";
const PAYLOAD = new Uint8Array(64).fill(0x61);
/** Few enough for the default buffers of the system. */
const UNDER_WAY = 128;
const MS_A_SECOND = 1000;
/** What is not back by then is lost. */
const GRACE_MS = 500;

const [port = 0, sessions = 0, seconds = 0] = process.argv.slice(2).map(Number);
const net = createPosixLoop();
const fds: DatagramFd[] = [];
let [sent, received, turn, isOver] = [0, 0, 0, false];

class Session implements ReadyHandler {
  readonly #fd: DatagramFd;

  constructor(fd: DatagramFd) {
    this.#fd = fd;
  }

  onReady(): void {
    while (this.#fd.readable) {
      const count = this.#fd.receive();
      if (count < 0) throw new Error("the proxy does not take datagrams");
      received += count;
      if (!isOver) send(count);
    }
  }

  onRemoved(): void {}
}

/** From the sockets whose turn it is. */
function send(count: number): void {
  for (let index = 0; index < count; index += 1) {
    turn = (turn + 1) % fds.length;
    const fd = fds[turn];
    if (fd?.queue(PAYLOAD) === false) {
      fd.flush();
      fd.queue(PAYLOAD);
    }
  }
  fds[turn]?.flush();
  sent += count;
}

for (let index = 0; index < sessions; index += 1) {
  const fd = net.provider.bindDatagram(ipAddress(HOST, 0), { connectTo: ipAddress(HOST, port) });
  if (fd.finishOpen() !== 0) throw new Error("a socket could not be had");
  net.loop.add(fd, new Session(fd));
  fds.push(fd);
}
send(UNDER_WAY);
net.loop.delay(seconds * MS_A_SECOND, () => {
  isOver = true;
  net.loop.delay(GRACE_MS, () => net.loop.close());
});
net.loop.run();
console.log(JSON.stringify({ sent, received }));
process.exit(0);
