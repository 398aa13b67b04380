import { FAMILIES, type Family } from "../../../core/model/address.ts";
import { type NftElement, writtenComment } from "../../../platform/linux/nft/table-script.ts";
import type { ElementMessage } from "../../../wire/netlink/nftables/element-batch.ts";
import {
  type ElementLayout,
  parseElementLayout,
} from "../../../wire/netlink/nftables/element-layout.ts";
import {
  type EncodedElement,
  encodeElement,
  encodeKey,
} from "../../../wire/netlink/nftables/encode-element.ts";
import { containersOf } from "./containers.ts";
import type { TablePlanner } from "./table-planner.ts";

/** More go through nft: they hold the thread for longer, and starting a program matters less. */
const MAX_ELEMENTS = 512;
/** All elements of a message are one attribute, which has less than 64 KiB. */
const ELEMENTS_IN_A_MESSAGE = 128;

type Layouts = ReadonlyMap<string, ElementLayout>;
type Verb = ElementMessage["verb"];

const LAYOUTS: ReadonlyMap<Family, Layouts> = new Map(
  FAMILIES.map((family) => [family, layoutsOf(family)]),
);

/**
 * What changed in all tables, as messages of one transaction. Undefined where it has to be text for nft:
 * chains change too, or it is much, or of a container whose elements are not plain. Empty where nothing did.
 */
export function elementMessages(
  tables: readonly TablePlanner[],
): readonly ElementMessage[] | undefined {
  const messages: ElementMessage[] = [];
  let count = 0;
  for (const planner of tables) {
    const changes = planner.elementChanges();
    if (changes === undefined) return undefined;
    count += changes.removed.length + changes.added.length;
    if (count > MAX_ELEMENTS) return undefined;
    const removals = messagesOf(planner, "delete", changes.removed);
    const additions = messagesOf(planner, "add", changes.added);
    if (removals === undefined || additions === undefined) return undefined;
    messages.push(...removals, ...additions);
  }
  return messages;
}

function messagesOf(
  { table, facts: { family } }: TablePlanner,
  verb: Verb,
  elements: readonly NftElement[],
): readonly ElementMessage[] | undefined {
  const messages: ElementMessage[] = [];
  const open = new Map<string, EncodedElement[]>();
  for (const element of elements) {
    const { container } = element;
    const encoded = encode(LAYOUTS.get(family)?.get(container), verb, element);
    if (encoded === undefined) return undefined;
    const list = open.get(container);
    if (list !== undefined && list.length < ELEMENTS_IN_A_MESSAGE) {
      list.push(encoded);
      continue;
    }
    const fresh = [encoded];
    open.set(container, fresh);
    messages.push({ verb, family, table: table.name, container, elements: fresh });
  }
  return messages;
}

function encode(
  layout: ElementLayout | undefined,
  verb: Verb,
  { key, value, comment }: NftElement,
): EncodedElement | undefined {
  if (layout === undefined) return undefined;
  if (verb === "delete") return encodeKey(layout, key);
  return encodeElement(layout, {
    key,
    ...(value === undefined ? {} : { value }),
    ...(comment === undefined ? {} : { comment: writtenComment(comment) }),
  });
}

/** Of plain containers: intervals, and what the kernel alone fills, have properties. */
function layoutsOf(family: Family): Layouts {
  return new Map(
    containersOf(family).flatMap(({ name, type, properties }) => {
      const layout = properties === undefined ? parseElementLayout(type) : undefined;
      return layout === undefined ? [] : [[name, layout] as const];
    }),
  );
}
