import type { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { Family } from "../../core/model/address.ts";
import { Turns } from "../../core/turns.ts";
import { joinFailures } from "../join-failures.ts";
import { IpvsController, type SyncReport } from "./controller.ts";
import type { GlueKeeper } from "./glue/glue-keeper.ts";
import type { FamilySets } from "./glue/set-names.ts";
import { createHandlers } from "./handlers/create-handlers.ts";
import type { IpvsPlatform } from "./kernel/platform.ts";
import { ensureHolders } from "./kernel/prepare-kernel.ts";
import { Proxier } from "./kernel/proxier.ts";
import type { InsideMarks } from "./plan/inside-marks.ts";
import type { PlannedChange } from "./service-planner.ts";
import type { IpvsSettings } from "./settings.ts";

export interface FamilyPlaneParts {
  readonly family: Family;
  readonly platform: IpvsPlatform;
  readonly sets: FamilySets;
  readonly glue: GlueKeeper;
  readonly marks: InsideMarks;
  readonly settings: IpvsSettings;
  readonly log: Log;
}

/** All of one family: its controller, the rules around it, and what looks after both. One at a time. */
export class FamilyPlane {
  readonly family: Family;
  readonly proxier: Proxier;
  readonly #parts: FamilyPlaneParts;
  readonly #controller: IpvsController;
  readonly #turns = new Turns();

  constructor(parts: FamilyPlaneParts) {
    const { family, platform, sets, marks, settings } = parts;
    this.#parts = parts;
    this.family = family;
    this.proxier = new Proxier({
      family,
      platform,
      sets,
      marksOf: (mark) => marks.bothOf(mark),
      isForeign: settings.isExcluded,
    });
    this.#controller = new IpvsController(createHandlers(this.proxier), this.proxier);
  }

  sync({ context, services }: PlannedChange): Promise<SyncReport> {
    const { glue } = this.#parts;
    return this.#turns.take(async () => {
      for (const [key, infos] of services) this.#controller.replace(key, infos);
      return this.#controller.sync(services.keys(), async () => {
        await glue.sync(context);
      });
    });
  }

  /** What the kernel refuses of services; it is told again by each sync and each repair. */
  get refused(): readonly CoreError[] {
    return this.#controller.refused;
  }

  /**
   * Puts right what others altered, and removes endpoints whose last connection has ended. What is
   * refused of services or of sets holds up nothing else; without rules, no address is added.
   * @returns how many changes others had made
   * @throws CoreError ERR_SYNC_FAILED when all else is done
   */
  repair(): Promise<number> {
    const { glue, platform, sets, family, log } = this.#parts;
    return this.#turns.take(async () => {
      const failures: unknown[] = [];
      const fail = (error: unknown): void => void failures.push(error);
      await ensureHolders(platform, [sets]).catch(fail);
      const lines = (await glue.repair().catch(fail)) ?? 0;
      const altered = glue.stand ? ((await this.#repairServices().catch(fail)) ?? 0) : 0;
      if (altered + lines > 0) {
        log.warn(
          { backend: "ipvs", family, changes: altered, lines },
          "what others altered in the kernel was put right",
        );
      }
      if (failures.length > 0) throw joinFailures("ERR_SYNC_FAILED", failures);
      return altered + lines;
    });
  }

  async #repairServices(): Promise<number> {
    await this.proxier.finishDrains();
    return this.#controller.repair();
  }

  over(): Promise<void> {
    return this.#turns.over();
  }
}
