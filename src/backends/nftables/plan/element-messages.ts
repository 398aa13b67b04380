import { FAMILIES, type Family } from "../../../core/model/address.ts";
import { type NftElement, writtenComment } from "../../../platform/linux/nft/table-script.ts";
import type { ElementMessage } from "../../../wire/netlink/nftables/element-batch.ts";
import { ElementEncoder } from "../../../wire/netlink/nftables/element-encoder.ts";
import {
  type ElementLayout,
  parseElementLayout,
} from "../../../wire/netlink/nftables/element-layout.ts";
import { containersOf, isPlain } from "./containers.ts";
import type { TablePlanner } from "./table-planner.ts";

/** All elements of a message are one attribute, which has less than 64 KiB. */
const ELEMENTS_IN_A_MESSAGE = 128;

type Layouts = ReadonlyMap<string, ElementLayout>;
type Verb = ElementMessage["verb"];

const LAYOUTS: ReadonlyMap<Family, Layouts> = new Map(
  FAMILIES.map((family) => [family, layoutsOf(family)]),
);

/**
 * What changed in all tables, as messages of one transaction. Undefined where it has to be text for nft:
 * chains change too, or elements of a container that is not plain. Empty where nothing did.
 */
export function elementMessages(
  tables: readonly TablePlanner[],
): readonly ElementMessage[] | undefined {
  const messages: ElementMessage[] = [];
  for (const planner of tables) {
    const changes = planner.elementChanges();
    if (changes === undefined) return undefined;
    const removals = messagesOf(planner, "delete", changes.removed);
    const additions = messagesOf(planner, "add", changes.added);
    if (removals === undefined || additions === undefined) return undefined;
    messages.push(...removals, ...additions);
  }
  return messages;
}

/** A table that is to be filled: by messages, all but the elements of containers that are not plain. */
export interface Filling {
  readonly messages: readonly ElementMessage[];
  readonly others: readonly NftElement[];
}

/** All elements of a table that holds none. Undefined where they can not be told so. */
export function fillingOf(planner: TablePlanner): Filling | undefined {
  const others: NftElement[] = [];
  const layouts = LAYOUTS.get(planner.facts.family);
  const isOther = (element: NftElement): boolean => layouts?.has(element.container) !== true;
  const messages = messagesOf(planner, "add", without(planner.elements(), isOther, others));
  return messages && { messages, others };
}

function* without(
  elements: Iterable<NftElement>,
  isOther: (element: NftElement) => boolean,
  others: NftElement[],
): Generator<NftElement> {
  for (const element of elements) {
    if (isOther(element)) others.push(element);
    else yield element;
  }
}

function messagesOf(
  { table, facts: { family } }: TablePlanner,
  verb: Verb,
  elements: Iterable<NftElement>,
): readonly ElementMessage[] | undefined {
  const messages: ElementMessage[] = [];
  const encoders = new Map<string, ElementEncoder>();
  const close = (container: string, encoder: ElementEncoder): void => {
    const taken = encoder.take();
    messages.push({ verb, family, table: table.name, container, elements: taken });
  };
  for (const element of elements) {
    const { container, comment } = element;
    let encoder = encoders.get(container);
    if (encoder === undefined) {
      const layout = LAYOUTS.get(family)?.get(container);
      if (layout === undefined) return undefined;
      encoder = new ElementEncoder(layout, verb);
      encoders.set(container, encoder);
    }
    const isRight = encoder.add(
      comment === undefined ? element : { ...element, comment: writtenComment(comment) },
    );
    if (!isRight) return undefined;
    if (encoder.count === ELEMENTS_IN_A_MESSAGE) close(container, encoder);
  }
  for (const [container, encoder] of encoders) if (encoder.count > 0) close(container, encoder);
  return messages;
}

function layoutsOf(family: Family): Layouts {
  return new Map(
    containersOf(family).flatMap((container) => {
      const layout = isPlain(container) ? parseElementLayout(container.type) : undefined;
      return layout === undefined ? [] : [[container.name, layout] as const];
    }),
  );
}
