import { NO_HINTS, type RouteHints } from "../core/model/route-hints.ts";
import type { RequestHint } from "../core/route/packet.ts";
import { type HintScore, isBetterScore, scoreHints } from "../core/route/request-hints.ts";
import { type Accepts, ANY_SERVER } from "./balance/balancer.ts";
import type { Server } from "./balance/server.ts";
import { WeightedTurns } from "./balance/weighted-turns.ts";
import type { ServerGroup } from "./server-group.ts";

/** A group that an upstream sends to. */
export interface Attachment {
  readonly group: ServerGroup;
  /** Share of what no hint decides; 0 drains. */
  readonly weight: number;
  /** Those of the attachment where it says any, else those of the group. */
  readonly hints: RouteHints;
}

export interface UpstreamOptions {
  readonly random: () => number;
  /** Whether another group is taken where those that suit the request have no healthy server. */
  readonly fallsBack: boolean;
}

/** A server and the group that counts its connections. */
export interface Choice {
  readonly group: ServerGroup;
  readonly server: Server;
}

/** What requests ask for differs little: answers for this many hints are remembered. */
const MAX_REMEMBERED = 1024;

/**
 * Weighted groups. A request's hint leads to the group that suits it best, by the rules of
 * `core/route`; without one, or where no group suits it, the groups take turns by weight.
 */
export class Upstream {
  readonly #attachments = new Map<string, Attachment>();
  readonly #turns: WeightedTurns<string>;
  readonly #fallsBack: boolean;
  readonly #ranked = new Map<string, readonly Attachment[]>();
  #readsHints = false;
  /** So many segments of a path make a difference. */
  #readSegments = 0;

  constructor({ random, fallsBack }: UpstreamOptions) {
    this.#turns = new WeightedTurns(random);
    this.#fallsBack = fallsBack;
  }

  /** The groups and their keys. */
  get attachments(): ReadonlyMap<string, Attachment> {
    return this.#attachments;
  }

  /** Adds a group, or changes how the one of this key is attached. */
  attach(key: string, attachment: Attachment): void {
    this.#attachments.set(key, attachment);
    this.#turns.set(key, attachment.weight);
    this.#attachmentsChanged();
  }

  /** Detaching what is not there does nothing. */
  detach(key: string): void {
    if (!this.#attachments.delete(key)) return;
    this.#turns.set(key, 0);
    this.#attachmentsChanged();
  }

  /** The server for a new connection or request, or undefined where none can take it. */
  next(
    hint: RequestHint | undefined,
    client: string,
    nowMs: number,
    accepts: Accepts = ANY_SERVER,
  ): Choice | undefined {
    const suiting = this.#suiting(hint);
    return (
      this.#choose(suiting, (group) => group.next(client, nowMs, accepts)) ??
      // Nobody is refused only because no check has been made yet.
      this.#choose(suiting, (group) => group.nextUnjudged(accepts))
    );
  }

  /**
   * The group that suits a hint best; undefined where none does. Whether or not it has a server: but
   * who falls back is given the first other one that has, where there is one. Always the same, not in
   * turn: what was told of the group shall still be true when it is asked for again.
   */
  best(hint: RequestHint): ServerGroup | undefined {
    const suiting = this.#suiting(hint);
    const [best] = suiting;
    if (best === undefined || !this.#fallsBack) return best?.group;
    const others = [...suiting, ...this.#attachments.values()];
    return (others.find(({ group, weight }) => weight > 0 && group.available > 0) ?? best).group;
  }

  /** Whether a request can be led to that group: with the same outcome as `next`, without choosing. */
  leadsTo(group: ServerGroup, hint: RequestHint | undefined): boolean {
    const suiting = this.#suiting(hint);
    const wanted = this.#fallsBack
      ? suiting.find((attachment) => attachment.group.available > 0)
      : suiting[0];
    return wanted === undefined || wanted.group === group;
  }

  /** The server at an address, in whichever group. */
  find(address: string, port: number): Choice | undefined {
    for (const { group, weight } of this.#attachments.values()) {
      const server = weight > 0 ? group.find(address, port) : undefined;
      if (server !== undefined) return { group, server };
    }
    return undefined;
  }

  #choose(
    suiting: readonly Attachment[],
    pick: (group: ServerGroup) => Server | undefined,
  ): Choice | undefined {
    for (const { group } of suiting) {
      const server = pick(group);
      if (server !== undefined) return { group, server };
      if (!this.#fallsBack) return undefined;
    }
    let choice: Choice | undefined;
    this.#turns.next((key) => {
      const group = this.#attachments.get(key)?.group;
      const server = group && pick(group);
      if (group === undefined || server === undefined) return false;
      choice = { group, server };
      return true;
    });
    return choice;
  }

  /** The groups that suit a hint, the best first; of equals, the one that was attached first. */
  #suiting(hint: RequestHint | undefined): readonly Attachment[] {
    if (hint === undefined || !this.#readsHints) return [];
    const { host = "", path = "", port } = hint;
    const readPath = firstSegments(path, this.#readSegments);
    const key = `${host}\n${port ?? ""}\n${readPath}`;
    const remembered = this.#ranked.get(key);
    if (remembered !== undefined) return remembered;
    const ranked = this.#rank({ host, path: readPath, ...(port !== undefined && { port }) });
    if (this.#ranked.size >= MAX_REMEMBERED) this.#ranked.clear();
    this.#ranked.set(key, ranked);
    return ranked;
  }

  #rank(hint: RequestHint): readonly Attachment[] {
    const scored: { attachment: Attachment; score: HintScore }[] = [];
    for (const attachment of this.#attachments.values()) {
      const score = attachment.weight > 0 ? scoreHints(attachment.hints, hint) : undefined;
      if (score !== undefined) scored.push({ attachment, score });
    }
    scored.sort(
      (a, b) => Number(isBetterScore(b.score, a.score)) - Number(isBetterScore(a.score, b.score)),
    );
    return scored.map(({ attachment }) => attachment);
  }

  #attachmentsChanged(): void {
    const hints = [...this.#attachments.values()].map((attachment) => attachment.hints);
    this.#readsHints = hints.some(saysSomething);
    this.#readSegments = Math.max(0, ...hints.map(({ path }) => path.split(/[^/]+/).length - 1));
    this.#ranked.clear();
  }
}

function saysSomething({ host, port, path }: RouteHints): boolean {
  return host !== NO_HINTS.host || port !== NO_HINTS.port || path !== NO_HINTS.path;
}

/** The beginning of a path with so many segments: nobody asks for more. Without any it is `/`. */
function firstSegments(path: string, count: number): string {
  let [end, left] = [0, count];
  while (end < path.length && left > 0) {
    const slash = path.indexOf("/", end + 1);
    const next = slash < 0 ? path.length : slash;
    if (next > end + 1) left -= 1;
    end = next;
  }
  return path.slice(0, end);
}
