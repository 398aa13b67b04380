import type { ChannelEntry, ChannelId } from "../selector-event-loop.ts";

/** A loop as groups see it: on a thread of its own (`LoopThread`) or on this one (`LocalLoop`). */
export interface GroupLoop {
  readonly name: string;
  readonly isRunning: boolean;
  /** Settles when it is gone; `error` where it was not asked to. Never rejects. */
  readonly ended: Promise<{ readonly error: Error | undefined }>;
  /** What is open in it now, for statistics and management. */
  channels(): Promise<readonly ChannelEntry[]>;
  /** Has one channel closed; rejects where it is not there any more. */
  dismiss(id: ChannelId): Promise<void>;
  /** Settles when what is open in it has ended. */
  drain(): Promise<void>;
  stop(): Promise<unknown>;
}

/** Something that lives on a loop, and is told when the loop is gone. */
export interface LoopResource {
  readonly id: string;
  onLoopEnded(loop: string): void;
}

/** A loop with what is bound to it. */
export class EventLoopWrapper<L extends GroupLoop> {
  readonly loop: L;
  readonly #resources = new Map<string, LoopResource>();

  constructor(loop: L) {
    this.loop = loop;
    void loop.ended.then(() => this.#tellEnd());
  }

  get name(): string {
    return this.loop.name;
  }

  get isRunning(): boolean {
    return this.loop.isRunning;
  }

  /** One that is attached to a loop that is gone is told at once. */
  attach(resource: LoopResource): void {
    if (this.loop.isRunning) this.#resources.set(resource.id, resource);
    else resource.onLoopEnded(this.name);
  }

  detach(id: string): void {
    this.#resources.delete(id);
  }

  /** The ids of what is bound to it. */
  resources(): readonly string[] {
    return [...this.#resources.keys()];
  }

  #tellEnd(): void {
    const resources = [...this.#resources.values()];
    this.#resources.clear();
    for (const resource of resources) resource.onLoopEnded(this.name);
  }
}
