import { messageOf } from "../../core/errors.ts";
import type { LoopContext, LoopProgram } from "../../net/threads/loop-program.ts";
import { loadAead } from "../../platform/linux/openssl/aead-calls.ts";
import { Rehearsal } from "./rehearsal.ts";
import { isTunnelData } from "./tunnel-messages.ts";
import { TunnelProgram } from "./tunnel-program.ts";

/** What is undone when the tunnel begins takes so many to be done again. */
const SECOND_ACT = 1500;

/**
 * A tunnel that rehearses before it begins. In this order, as the engine compiles code for the objects that it
 * has seen: those of a tunnel that were made before would be others to it, and their first packet would throw away
 * what was compiled. What comes meanwhile waits, packets in the kernel and commands here. A shorter second act
 * follows beside the tunnel, for what its beginning undid nevertheless.
 */
class RehearsedProgram implements LoopProgram {
  readonly openCount = 0;
  readonly #waiting: unknown[] = [];
  #rehearsal: Rehearsal;
  #program: LoopProgram | undefined;
  #isClosed = false;

  constructor(
    start: () => LoopProgram,
    rehearse: (count: number | undefined, onDone: () => void) => Rehearsal,
  ) {
    this.#rehearsal = rehearse(undefined, () => {
      if (this.#isClosed) return;
      this.#program = start();
      for (const body of this.#waiting.splice(0)) this.#program.onMessage(body);
      this.#rehearsal = rehearse(SECOND_ACT, () => undefined);
    });
  }

  listener(): never {
    throw new Error("a tunnel has no listeners");
  }

  onMessage(body: unknown): void {
    if (this.#program === undefined) this.#waiting.push(body);
    else this.#program.onMessage(body);
  }

  drain(): void {
    this.#program?.drain();
  }

  close(): void {
    this.#isClosed = true;
    this.#rehearsal.close();
    this.#program?.close();
  }
}

export function createTunnelProgram(context: LoopContext): LoopProgram {
  const { data, net, log } = context;
  if (!isTunnelData(data)) throw new Error("a tunnel was started without its data");
  const aead = loadAead();
  const start = (): LoopProgram => new TunnelProgram(context, data, aead);
  if (!data.rehearses) return start();
  try {
    return new RehearsedProgram(start, (count, onDone) => {
      const beganMs = net.loop.nowMs;
      return new Rehearsal(net, {
        aead,
        count,
        onDone: (exchanges) => {
          log.debug({ exchanges, ms: net.loop.nowMs - beganMs }, "the tunnel has rehearsed");
          onDone();
        },
      });
    });
  } catch (error) {
    // A namespace without loopback, perhaps.
    log.debug({ reason: messageOf(error) }, "the tunnel can not rehearse");
    return start();
  }
}
