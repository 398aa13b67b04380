import { CoreError } from "../../core/errors.ts";
import { FAMILIES } from "../../core/model/address.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import {
  createFullStateSink,
  type FullState,
  type ServiceEndpoints,
} from "../../core/sinks/fullstate.ts";
import type { Op } from "../../core/view/ops.ts";
import { listTable, type TableReaders } from "../../platform/linux/nft/list-table.ts";
import { isRefused, type Nft } from "../../platform/linux/nft/nft.ts";
import type { NftListing } from "../../platform/linux/nft/parse-listing.ts";
import { planLoopback } from "../../platform/linux/route-localnet.ts";
import type { Preview } from "../backend.ts";
import { directSettingOf } from "../direct-setting.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import { type ProbeDirect, previewDirect } from "../preview-direct.ts";
import { type FastPreviewWorld, previewFast } from "../preview-fast.ts";
import type { NFTABLES_OPTIONS } from "./options.ts";
import { OWN_RULES } from "./own-rules.ts";
import { adoptTables } from "./plan/adopt-tables.ts";
import { Planner } from "./plan/planner.ts";
import { chooseMethod } from "./plan/service-limits.ts";
import type { TablePlanner } from "./plan/table-planner.ts";
import { planSettingsOf } from "./plan-settings.ts";

/** What is looked at; nothing is touched. */
export interface PreviewWorld extends TableReaders, FastPreviewWorld {
  readonly nft: TableReaders["nft"] & Pick<Nft, "check">;
  readonly probeDirect: ProbeDirect;
}

/**
 * The transaction of a first sync, as `nft -f -` would read it: what differs from what the kernel holds.
 * @throws CoreError ERR_USAGE
 */
export async function previewNftables(
  options: ValuesOf<typeof NFTABLES_OPTIONS>,
  nodeName: string,
  ops: readonly Op[],
  world: PreviewWorld,
): Promise<Preview> {
  const planner = new Planner(planSettingsOf(options, nodeName));
  const { tables } = planner;
  const { listings, unread } = await readTables(tables, world);
  for (const [table, listing] of listings) table.seedSlots(listing);
  let told: FullState | undefined;
  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName, sets: KERNEL_SETS }),
    apply: (state, changed) => {
      told = state;
      planner.update(state, changed);
    },
  });
  for (const op of ops) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
  const script = await firstTaken(scriptsFor(tables, listings), listings.size > 0, world.nft);
  const settings = planner.servesLoopback ? await planLoopback(world.sysctl) : "";
  const further = [
    ...(await directLines(options, told, world.probeDirect)),
    ...(await previewFast(options.fastPath, OWN_RULES, world)),
  ];
  return { script: settings + script, further, ...(unread !== undefined && { unread }) };
}

async function directLines(
  options: ValuesOf<typeof NFTABLES_OPTIONS>,
  state: FullState | undefined,
  probe: ProbeDirect,
): Promise<readonly string[]> {
  if (state === undefined) return [];
  const { services } = state;
  const isRandom = (item: ServiceEndpoints) =>
    chooseMethod(item, state.further.groups) === "random";
  return previewDirect({
    ...directSettingOf(options),
    families: FAMILIES,
    services,
    isRandom,
    probe,
  });
}

/** What a sync tries one after the other, where what was found refuses it. */
function* scriptsFor(
  tables: readonly TablePlanner[],
  listings: ReadonlyMap<TablePlanner, NftListing>,
): Generator<string> {
  if (adoptTables(tables, listings)) yield tables.map((table) => table.changesScript()).join("");
  yield tables.map((table) => table.fullScript(listings.get(table))).join("");
  yield tables.map((table) => table.recreateScript()).join("");
}

async function firstTaken(
  scripts: Iterable<string>,
  isTableThere: boolean,
  nft: Pick<Nft, "check">,
): Promise<string> {
  let last = "";
  for (const script of scripts) {
    last = script;
    // An empty kernel takes the first; nothing to do is refused by nobody.
    if (!isTableThere || script === "") return script;
    try {
      await nft.check(script);
      return script;
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
  }
  return last;
}

interface FoundTables {
  readonly listings: ReadonlyMap<TablePlanner, NftListing>;
  /** Why they could not be read. */
  readonly unread: string | undefined;
}

async function readTables(
  tables: readonly TablePlanner[],
  readers: TableReaders,
): Promise<FoundTables> {
  const listings = new Map<TablePlanner, NftListing>();
  try {
    for (const table of tables) {
      const listing = await listTable(table.table, readers);
      if (listing !== undefined) listings.set(table, listing);
    }
    return { listings, unread: undefined };
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    return { listings: new Map(), unread: error.message };
  }
}
