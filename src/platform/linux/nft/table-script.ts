/** The address families of tables, as nft writes them. */
export type NftFamily = "ip" | "ip6";

export interface NftTable {
  readonly family: NftFamily;
  readonly name: string;
}

/** A map, or a set where it has no values. */
export interface NftContainer {
  readonly name: string;
  readonly kind: "set" | "map";
  /** What it holds, as nft writes it: `typeof ip daddr : verdict`. */
  readonly type: string;
  /** Further lines, such as `flags dynamic,timeout`. */
  readonly properties?: readonly string[];
  readonly comment: string;
}

export interface NftChain {
  readonly name: string;
  /** Where packets come in, for a base chain: `type nat hook output priority -100; policy accept;`. */
  readonly hook?: string;
  readonly comment: string;
  readonly rules: readonly string[];
}

export interface NftElement {
  /** Name of the container. */
  readonly container: string;
  readonly key: string;
  /** Undefined in a set. */
  readonly value?: string;
  readonly comment?: string;
}

/** One command holds no more than that, so that errors name a line that people can look at. */
const ELEMENTS_IN_A_COMMAND = 5000;

/**
 * What a transaction says about one table, as text for `nft -f`. The order of the calls is the order
 * of the commands. Adding what is there is fine but for elements; deleting what is absent is an error.
 */
export class TableScript {
  readonly #table: string;
  readonly #lines: string[] = [];

  constructor({ family, name }: NftTable) {
    this.#table = `${family} ${name}`;
  }

  addTable(comment: string): void {
    this.#lines.push(`add table ${this.#table} { comment ${quoted(comment)} ; }`);
  }

  deleteTable(): void {
    this.#lines.push(`delete table ${this.#table}`);
  }

  addContainer({ kind, name, type, properties = [], comment }: NftContainer): void {
    const lines = [type, ...properties, `comment ${quoted(comment)}`];
    this.#lines.push(`add ${kind} ${this.#table} ${name} { ${lines.join(" ; ")} ; }`);
  }

  flushContainer({ kind, name }: NftContainer): void {
    this.#lines.push(`flush ${kind} ${this.#table} ${name}`);
  }

  /** Without its rules: those may name chains that are still to come. */
  addChain({ name, hook, comment }: NftChain): void {
    const lead = hook === undefined ? "" : `${hook} `;
    this.#lines.push(`add chain ${this.#table} ${name} { ${lead}comment ${quoted(comment)} ; }`);
  }

  flushChain(name: string): void {
    this.#lines.push(`flush chain ${this.#table} ${name}`);
  }

  deleteChain(name: string): void {
    this.#lines.push(`delete chain ${this.#table} ${name}`);
  }

  addRules({ name, rules }: NftChain): void {
    for (const rule of rules) this.#lines.push(`add rule ${this.#table} ${name} ${rule}`);
  }

  addElements(elements: Iterable<NftElement>): void {
    this.#elements("add", elements, elementText);
  }

  deleteElements(elements: Iterable<NftElement>): void {
    this.#elements("delete", elements, ({ key }) => key);
  }

  /** Empty where there is nothing to do. */
  text(): string {
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  #elements(
    verb: "add" | "delete",
    elements: Iterable<NftElement>,
    textOf: (element: NftElement) => string,
  ): void {
    const open = new Map<string, { text: string; count: number }>();
    const close = (container: string, text: string): void => {
      this.#lines.push(`${verb} element ${this.#table} ${container} { ${text} }`);
    };
    for (const element of elements) {
      const { container } = element;
      const command = open.get(container);
      if (command === undefined) {
        open.set(container, { text: textOf(element), count: 1 });
      } else if (command.count === ELEMENTS_IN_A_COMMAND) {
        close(container, command.text);
        open.set(container, { text: textOf(element), count: 1 });
      } else {
        command.text += `, ${textOf(element)}`;
        command.count += 1;
      }
    }
    for (const [container, { text }] of open) close(container, text);
  }
}

/** As nft itself lists it: `10.0.0.1 . tcp . 80 comment "default/web" : goto random-3`. */
export function elementText({ key, value, comment }: NftElement): string {
  const note = comment === undefined ? "" : ` comment ${quoted(comment)}`;
  return value === undefined ? `${key}${note}` : `${key}${note} : ${value}`;
}

/** In bytes, less than nft takes. */
const MAX_COMMENT_LENGTH = 120;
/** nft knows no escapes, and counts bytes: only what is printed as one of them goes in. */
const UNSAFE = /[^ !#-[\]-~]/;
const ALL_UNSAFE = new RegExp(UNSAFE, "g");

function quoted(comment: string): string {
  return `"${writtenComment(comment)}"`;
}

/** A comment as far as nft takes it. */
export function writtenComment(comment: string): string {
  const isFine = comment.length <= MAX_COMMENT_LENGTH && !UNSAFE.test(comment);
  return isFine ? comment : comment.replaceAll(ALL_UNSAFE, "_").slice(0, MAX_COMMENT_LENGTH);
}
