import { expect } from "vitest";
import { ERRNO } from "../platform/errno.ts";
import type { Fd, Provider, StreamFd } from "./fd.ts";
import { type ChannelId, type ReadyHandler, SelectorEventLoop } from "./selector-event-loop.ts";

/** What a provider needs to give for its FDs to be tested. */
export interface ScenarioSubject {
  readonly makeProvider: () => Provider;
  /** Runs a loop until it is closed. */
  readonly run: (loop: SelectorEventLoop) => Promise<void>;
}

/** A step waits until this holds; asked again after everything that happens in the loop. */
export type Condition = () => boolean;
export type Scenario = (net: ScenarioNet) => Generator<Condition, void, void>;

const LIMIT_MS = 5000;

/** An FD in the loop of a scenario, with the events that it was told of. */
export class Watched<F extends Fd> implements ReadyHandler {
  readonly fd: F;
  readonly events: number[] = [];
  id: ChannelId | undefined;
  readonly #onEvent: () => void;

  constructor(fd: F, onEvent: () => void) {
    this.fd = fd;
    this.#onEvent = onEvent;
  }

  onReady(ready: number): void {
    this.events.push(ready);
    this.#onEvent();
  }

  onRemoved(): void {
    this.fd.close();
  }
}

/** The world of one scenario: one loop, both ends of every connection in it. */
export class ScenarioNet {
  readonly provider: Provider;
  readonly loop: SelectorEventLoop;
  readonly errors: unknown[] = [];
  readonly #all: Watched<Fd>[] = [];
  #steps: Generator<Condition, void, void> | undefined;
  #waitsFor: Condition = () => true;

  constructor(provider: Provider) {
    this.provider = provider;
    this.loop = new SelectorEventLoop({
      provider,
      onError: (error) => {
        this.errors.push(error);
        this.loop.close();
      },
    });
  }

  /** One that failed to open is not put into the loop. */
  watch<F extends Fd>(fd: F): Watched<F> {
    const watched = new Watched(fd, () => this.advance());
    const opened = fd.finishOpen();
    if (opened === 0 || opened === -ERRNO.EINPROGRESS) watched.id = this.loop.add(fd, watched);
    this.#all.push(watched);
    return watched;
  }

  close(watched: Watched<Fd>): void {
    watched.fd.close();
    if (watched.id !== undefined) this.loop.remove(watched.id);
  }

  /** Takes steps as long as their conditions hold; ends the loop after the last one. */
  advance(): void {
    while (this.#waitsFor()) {
      const step = this.#steps?.next();
      if (step === undefined || step.done === true) {
        this.loop.close();
        return;
      }
      this.#waitsFor = step.value;
    }
  }

  start(scenario: Scenario): void {
    this.#steps = scenario(this);
    this.loop.nextTick(() => this.advance());
    this.loop.delay(LIMIT_MS, () => {
      throw new Error(`nothing came of: ${this.#waitsFor}`);
    });
  }

  closeAll(): void {
    for (const watched of this.#all) watched.fd.close();
  }
}

export async function runScenario(subject: ScenarioSubject, scenario: Scenario): Promise<void> {
  const net = new ScenarioNet(subject.makeProvider());
  net.start(scenario);
  await subject.run(net.loop);
  net.closeAll();
  expect(net.errors).toEqual([]);
}

const READ_BYTES = 65_536;

/** Reads what there is now: the bytes, and how the last read ended (0: end of stream; negative errno). */
export function readAll(net: ScenarioNet, fd: StreamFd): { bytes: Uint8Array; last: number } {
  const region = net.provider.allocate(READ_BYTES);
  const parts: Uint8Array[] = [];
  let last = 0;
  do {
    last = fd.read(region, 0, READ_BYTES);
    if (last > 0) parts.push(region.bytes.slice(0, last));
  } while (last > 0 && fd.readable);
  return { bytes: Buffer.concat(parts), last };
}

export function writeText(net: ScenarioNet, fd: StreamFd, text: string): number {
  const bytes = Buffer.from(text);
  const region = net.provider.allocate(bytes.length);
  region.bytes.set(bytes);
  return fd.write(region, 0, bytes.length);
}
