/**
 * `socks5-load PORT SERVER_PORT SECONDS`: on 64 connections at a time, through a SOCKS5 proxy, one
 * request each; a new connection for each that has ended. Prints how many there were.
 */

import type { StreamFd } from "../../../src/net/fd.ts";
import type { ChannelId, ReadyHandler } from "../../../src/net/selector-event-loop.ts";
import { ERRNO } from "../../../src/platform/errno.ts";
import { ipAddress } from "../../../src/platform/socket-address.ts";
import { createPosixLoop } from "./posix-loop.ts";

const HOST = "127.0.0.1";
const CONNECTIONS = 64;
const MS_A_SECOND = 1000;
const [port = 0, serverPort = 0, seconds = 0] = process.argv.slice(2).map(Number);

const GREETING = Buffer.from([5, 1, 0]);
const CONNECT = Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, serverPort >> 8, serverPort & 0xff]);
const REQUEST = Buffer.from("GET /small HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n");
/** What is said in turn, after so many bytes of answers. */
const STEPS = [
  { say: GREETING, after: 0 },
  { say: CONNECT, after: 2 },
  { say: REQUEST, after: 12 },
];

const net = createPosixLoop();
let [done, isOver] = [0, false];

class Call implements ReadyHandler {
  #fd: StreamFd;
  #id: ChannelId;
  #step = 0;
  #heard = 0;

  constructor() {
    [this.#fd, this.#id] = this.#open();
  }

  onReady(): void {
    const fd = this.#fd;
    if (fd.finishOpen() === -ERRNO.EINPROGRESS) return;
    this.#say();
    while (fd === this.#fd && fd.readable) {
      const count = fd.read(net.scratch, 0, net.scratch.bytes.length);
      if (count === -ERRNO.EAGAIN) return;
      if (count < 0) throw new Error("a connection failed");
      this.#heard += count;
      if (count === 0) this.#again();
      else this.#say();
    }
  }

  onRemoved(): void {}

  #open(): [StreamFd, ChannelId] {
    const fd = net.provider.connect(ipAddress(HOST, port));
    return [fd, net.loop.add(fd, this)];
  }

  #say(): void {
    const step = STEPS[this.#step];
    if (step === undefined || this.#heard < step.after) return;
    this.#step += 1;
    net.scratch.bytes.set(step.say);
    this.#fd.write(net.scratch, 0, step.say.length);
  }

  #again(): void {
    if (this.#step < STEPS.length) throw new Error("the proxy closed a connection");
    done += 1;
    this.#fd.close();
    net.loop.remove(this.#id);
    [this.#step, this.#heard] = [0, 0];
    if (!isOver) [this.#fd, this.#id] = this.#open();
  }
}

for (let index = 0; index < CONNECTIONS; index += 1) new Call();
net.loop.delay(seconds * MS_A_SECOND, () => {
  isOver = true;
  net.loop.close();
});
net.loop.run();
console.log(JSON.stringify({ done }));
process.exit(0);
