import { CoreError } from "../../../core/errors.ts";
import type { Family } from "../../../core/model/address.ts";
import { EMPTY } from "../../../core/model/common.ts";
import { parseElementLayout } from "../../../wire/netlink/nftables/element-layout.ts";
import type { Nft } from "./nft.ts";
import type { NftElements } from "./nft-elements.ts";
import type { ListedContainer, NftListing } from "./parse-listing.ts";
import { elementText, type NftFamily, type NftTable } from "./table-script.ts";

/** What tables are read with. */
export interface TableReaders {
  readonly nft: Pick<Nft, "list" | "outline" | "listElements">;
  readonly elements: Pick<NftElements, "list">;
}

const FAMILIES: Readonly<Record<NftFamily, Family>> = { ip: "v4", ip6: "v6" };

/**
 * All of a table, in half the time of `nft list`: elements of plain sets and maps come by netlink, and
 * what packets fill (`flags dynamic`), which may be more than all else, is left out. Where that does not
 * do, nft tells.
 * @returns undefined where it is not there
 * @throws CoreError ERR_PROGRAM_FAILED or ERR_SYSTEM_CALL
 */
export async function listTable(
  table: NftTable,
  readers: TableReaders,
): Promise<NftListing | undefined> {
  return (await listParts(table, readers)) ?? readers.nft.list(table);
}

async function listParts(table: NftTable, readers: TableReaders): Promise<NftListing | undefined> {
  const outline = await outlineOf(table, readers.nft);
  if (outline === undefined) return undefined;
  const containers = new Map<string, ListedContainer>();
  for (const [name, container] of outline.containers) {
    const elements = await elementsOf(table, name, container, readers);
    if (elements === undefined) return undefined;
    containers.set(name, { ...container, elements });
  }
  return { ...outline, containers };
}

/** It names all tables of a family: that of another, which nft can not write, is no reason to fail. */
async function outlineOf(
  table: NftTable,
  nft: TableReaders["nft"],
): Promise<NftListing | undefined> {
  try {
    return await nft.outline(table);
  } catch (error) {
    if (error instanceof CoreError && error.code === "ERR_PROGRAM_FAILED") return undefined;
    throw error;
  }
}

async function elementsOf(
  table: NftTable,
  name: string,
  { kind, properties }: ListedContainer,
  { nft, elements }: TableReaders,
): Promise<readonly string[] | undefined> {
  const [type = "", ...others] = properties;
  if (others.some((line) => FILLED_BY_PACKETS.test(line))) return EMPTY;
  const layout = others.length === 0 ? parseElementLayout(type) : undefined;
  if (layout === undefined) return nft.listElements(table, name, kind);
  const family = FAMILIES[table.family];
  const listed = await elements.list({ family, table: table.name, container: name }, layout);
  return listed?.map((element) => elementText({ container: name, ...element }));
}

const FILLED_BY_PACKETS = /^flags\b.*\bdynamic\b/;
