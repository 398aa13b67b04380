/** A program for tests: echoes, and does on demand what goes wrong in real ones. */
import { ERRNO } from "../../platform/errno.ts";
import type { StreamFd } from "../fd.ts";
import type { NetEventLoop } from "../net-event-loop.ts";
import type { ChannelDescription, ChannelId, ReadyHandler } from "../selector-event-loop.ts";
import type { LoopContext } from "./loop-program.ts";
import { runLoopProgram } from "./run-loop-program.ts";

/** What tests send to it. */
export type EchoCommand =
  | { readonly kind: "echo"; readonly text: string }
  | { readonly kind: "throw" }
  | { readonly kind: "die" }
  | { readonly kind: "eat-heap" }
  | { readonly kind: "hang" }
  | { readonly kind: "log-many"; readonly count: number }
  /** What it accepts from now on is the other's. */
  | { readonly kind: "hand-to"; readonly loop: string }
  | { readonly kind: "tell-peer"; readonly loop: string; readonly text: string };

class EchoConnection implements ReadyHandler {
  readonly #net: NetEventLoop;
  readonly #fd: StreamFd;
  readonly #id: ChannelId;
  readonly #open: Set<EchoConnection>;
  #bytes = 0;

  constructor(net: NetEventLoop, fd: StreamFd, open: Set<EchoConnection>) {
    this.#net = net;
    this.#fd = fd;
    this.#open = open;
    this.#open.add(this);
    this.#id = net.loop.add(fd, this);
  }

  onReady(): void {
    const { scratch } = this.#net;
    while (this.#fd.readable) {
      const count = this.#fd.read(scratch, 0, scratch.bytes.length);
      if (count > 0) {
        this.#bytes += count;
        this.#fd.write(scratch, 0, count);
      } else if (count !== -ERRNO.EAGAIN) {
        this.dismiss();
      }
    }
  }

  onRemoved(): void {
    this.dismiss();
  }

  describe(): ChannelDescription {
    return {
      kind: "connection",
      local: this.#fd.localAddress(),
      remote: this.#fd.remoteAddress(),
      bytesIn: this.#bytes,
      bytesOut: this.#bytes,
    };
  }

  dismiss(): void {
    this.#fd.close();
    this.#net.loop.remove(this.#id);
    this.#open.delete(this);
  }
}

function obey(context: LoopContext, command: Exclude<EchoCommand, { kind: "hand-to" }>): void {
  switch (command.kind) {
    case "echo":
      context.report(`${context.name}: ${command.text}`);
      return;
    case "throw":
      throw new Error("thrown on purpose");
    case "die":
      process.exit(3);
      return;
    case "eat-heap": {
      const eaten: object[] = [];
      for (;;) eaten.push({ bytes: new Array(1000).fill(eaten.length) });
    }
    case "hang":
      for (;;);
    case "log-many":
      for (let index = 0; index < command.count; index += 1) context.log.info({ index }, "many");
      return;
    case "tell-peer":
      context.sendToPeer(command.loop, command.text);
      return;
  }
}

runLoopProgram((context) => {
  const open = new Set<EchoConnection>();
  let worker = "";
  context.log.info({ data: context.data }, "echo program is here");
  return {
    listener: () => ({
      onConnection: (fd) => {
        if (context.handTo(worker, fd, "from the other")) return;
        new EchoConnection(context.net, fd, open);
      },
    }),
    onMessage: (body) => {
      // Tests send nothing else.
      const command = body as EchoCommand;
      if (command.kind === "hand-to") worker = command.loop;
      else obey(context, command);
    },
    onHandedOver: (fd, body) => {
      context.report(`${context.name} got one ${body}`);
      new EchoConnection(context.net, fd, open);
    },
    onPeerMessage: (loop, body) => context.report(`${context.name} from ${loop}: ${body}`),
    drain: () => undefined,
    get openCount() {
      return open.size;
    },
    close: () => undefined,
  };
});
