import type { InnerPlane, ListeningSockets } from "../backends/backend.ts";
import type { PlaneControl } from "../backends/plane-control.ts";
import { CoreError } from "../core/errors.ts";
import type { StatusBoard } from "../core/status/status-board.ts";
import type { Closers } from "./closers.ts";
import type { InstanceConfig } from "./config.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import { createHandlers } from "./instance-handlers.ts";
import type { Door, Presence, TakenOver } from "./presence.ts";
import type { LiveParts } from "./requests/live-parts.ts";
import type { LogRing } from "./requests/log-ring.ts";
import type { SupportParts } from "./requests/read-support.ts";

/** The other process reads what this one keeps. */
export interface Standstill {
  /** Settles when nothing is under way any more. */
  begin(): Promise<void>;
  end(): void;
}

/** A process that asked to take over, and then does nothing, is not waited for. */
const PATIENCE_MS = 10_000;

export interface SuccessionContext {
  readonly deps: InstanceDeps;
  readonly board: StatusBoard;
  readonly closers: Closers;
  readonly live: LiveParts;
  readonly ring: LogRing;
}

/** Whether the instance takes the place of one that runs. */
export function takesOver({ backends }: InstanceConfig): boolean {
  return backends.some(({ definition, options }) => definition.takesOver?.(options) === true);
}

/**
 * Which process serves: takes the listening sockets of the one before, where that is asked for, and
 * gives its own to the one after. Both serve at the same time for a moment, so that nobody who calls
 * is refused; each knows from the other when it has begun.
 */
export class Succession {
  /** Settles when another process has taken this one's place. */
  readonly replaced: Promise<void>;
  readonly #config: InstanceConfig;
  readonly #context: SuccessionContext;
  readonly #presence: Presence | undefined;
  readonly #planes = new Map<string, InnerPlane>();
  readonly #onGiveWay: (() => Promise<void>)[] = [];
  /** What stands still while another process looks whether it can take over. */
  readonly #standstills: Standstill[] = [];
  #isStill = false;
  #patience: NodeJS.Timeout | undefined;
  #taken: TakenOver | undefined;
  #offer: (Door & { readonly path: string }) | undefined;
  #tellReplaced: () => void = () => undefined;

  /** @throws CoreError ERR_INSTANCE where there is nobody to take over from, or the folder is another's */
  static async begin(config: InstanceConfig, context: SuccessionContext): Promise<Succession> {
    const succession = new Succession(config, context);
    await succession.#begin();
    return succession;
  }

  private constructor(config: InstanceConfig, context: SuccessionContext) {
    this.#config = config;
    this.#context = context;
    this.#presence = context.deps.createPresence?.(config);
    this.replaced = new Promise((resolve) => {
      this.#tellReplaced = resolve;
    });
  }

  /** The sockets that the process before had for that backend. */
  inheritedBy(backend: string): ListeningSockets {
    const prefix = prefixOf(backend);
    const entries = [...(this.#taken?.sockets ?? [])].filter(([id]) => id.startsWith(prefix));
    return new Map(entries.map(([id, descriptors]) => [id.slice(prefix.length), descriptors]));
  }

  addPlane(backend: string, plane: InnerPlane): void {
    this.#planes.set(backend, plane);
  }

  /** What others may ask about. */
  get parts(): SupportParts {
    const { deps, board, live, ring } = this.#context;
    return {
      config: this.#config,
      node: this.#config.node,
      version: deps.version,
      nowMs: deps.nowMs,
      board,
      live,
      ring,
      planes: this.#planes,
    };
  }

  /** The data plane in this process that commands look into. */
  engine(): PlaneControl | undefined {
    return [...this.#planes.values()].find(({ control }) => control !== undefined)?.control;
  }

  /** Begins at once where another process is looking already. */
  async addStandstill(standstill: Standstill): Promise<void> {
    this.#standstills.push(standstill);
    if (this.#isStill) await standstill.begin();
  }

  /** Called when another process serves: lets go of what it needs before this one ends. */
  onGiveWay(act: () => Promise<void>): void {
    this.#onGiveWay.push(act);
  }

  /** All backends are there. Without a data plane of its own nobody needs to find it, unless that is wanted. */
  async announce(): Promise<void> {
    const isWanted = this.#presence?.isWanted ?? false;
    if (this.#taken === undefined && !isWanted && this.#planes.size > 0) await this.#open(false);
  }

  /** The first state is applied: from here on this process is the one that serves. */
  async complete(): Promise<void> {
    if (this.#taken === undefined) return;
    this.#taken.confirm();
    this.#taken = undefined;
    await this.#open(true);
  }

  async #begin(): Promise<void> {
    const { closers } = this.#context;
    closers.add("the offer of sockets", async () => {
      clearTimeout(this.#patience);
      await this.#offer?.close();
    });
    if (takesOver(this.#config)) {
      assertHasNoApi(this.#config);
      this.#taken = await this.#presence?.takeOver();
      closers.add("the take-over", async () => this.#taken?.abandon());
    } else if (this.#presence?.isWanted === true) {
      // Refused here and now where it is another's.
      await this.#open(false);
    }
  }

  async #open(replaces: boolean): Promise<void> {
    const handlers = createHandlers({ ...this.parts, offer: () => this.#offerSockets() });
    const door = await this.#presence?.open(handlers, { replaces });
    if (door !== undefined) this.#context.closers.add("the instance socket", () => door.close());
  }

  /** @returns where they are handed out */
  async #offerSockets(): Promise<string | undefined> {
    this.#offer ??= await this.#presence?.offer({
      sockets: () => {
        clearTimeout(this.#patience);
        // Again, where the patience was over by now.
        void this.#standStill();
        return this.#sockets();
      },
      onTaken: () => void this.#giveWay(),
      onAbandoned: () => this.#moveOn(),
    });
    if (this.#offer === undefined) return undefined;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#moveOn(), PATIENCE_MS).unref();
    await this.#standStill();
    return this.#offer.path;
  }

  async #standStill(): Promise<void> {
    this.#isStill = true;
    await Promise.all(this.#standstills.map((standstill) => standstill.begin()));
  }

  /** Once for each time that it stood still, however many ways told that nobody takes over. */
  #moveOn(): void {
    if (!this.#isStill) return;
    this.#isStill = false;
    for (const standstill of this.#standstills) standstill.end();
  }

  #sockets(): ListeningSockets {
    const sockets = [...this.#planes].flatMap(([backend, plane]) =>
      [...plane.sockets()].map(
        ([id, descriptors]) => [`${prefixOf(backend)}${id}`, descriptors] as const,
      ),
    );
    return new Map(sockets);
  }

  async #giveWay(): Promise<void> {
    await Promise.all([
      ...[...this.#planes.values()].map((plane) => plane.release()),
      ...this.#onGiveWay.map((act) => act()),
    ]);
    this.#tellReplaced();
  }
}

/** Followers of an API hold connections to one process, which alone knows what was announced to it. */
function assertHasNoApi({ servesApi }: InstanceConfig): void {
  if (!servesApi) return;
  throw new CoreError(
    "ERR_USAGE",
    "--take-over: an instance that serves the API (--to api) can not take the place of another; end that one and start this one: who follows it goes on with what it knows meanwhile",
  );
}

function prefixOf(backend: string): string {
  return `${backend} `;
}
