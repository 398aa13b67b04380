import { CoreError } from "../../core/errors.ts";
import type { EngineChannel, EngineChannels } from "../engine-channels.ts";
import { channelsOf, parseChannelId } from "./channel-list.ts";
import type { Fleet } from "./fleet.ts";

/** What is open in the loops of a fleet. */
export class FleetChannels implements EngineChannels {
  readonly #fleet: () => Fleet;

  /** @param fleet throws where the engine is closed. */
  constructor(fleet: () => Fleet) {
    this.#fleet = fleet;
  }

  async list(): Promise<readonly EngineChannel[]> {
    const lists = this.#fleet()
      .loops()
      .map(async (loop) => {
        try {
          return channelsOf(loop, await loop.channels());
        } catch {
          // It has ended by now, and all in it.
          return [];
        }
      });
    return (await Promise.all(lists)).flat();
  }

  async close(id: string): Promise<boolean> {
    const named = parseChannelId(id);
    const loop = this.#fleet()
      .loops()
      .find(({ serial }) => serial === named?.serial);
    if (named === undefined || loop === undefined) return false;
    if (named.kind === "server-sock") {
      throw new CoreError(
        "ERR_IN_USE",
        `${id}: a listening socket is in use by its listener; remove that to close it`,
      );
    }
    try {
      await loop.dismiss(named.channel);
      return true;
    } catch (error) {
      const isGone = error instanceof CoreError && GONE.has(error.code);
      if (isGone) return false;
      throw error;
    }
  }
}

const GONE: ReadonlySet<string> = new Set(["ERR_NOT_FOUND", "ERR_LOOP_ENDED"]);
