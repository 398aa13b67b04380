import { EMPTY } from "../../../core/model/common.ts";

/** A table as `nft list table` prints it. */
export interface NftListing {
  /** What it has beside what it holds, such as `dormant`: then no packet meets it. */
  readonly flags: readonly string[];
  readonly containers: ReadonlyMap<string, ListedContainer>;
  readonly chains: ReadonlyMap<string, ListedChain>;
}

export interface ListedContainer {
  readonly kind: "set" | "map";
  /** What stands before the elements, but for its comment: its type, perhaps flags and more. */
  readonly properties: readonly string[];
  /** As nft prints them, without time-outs that run: `10.0.0.1 . tcp . 80 : goto random-3`. */
  readonly elements: readonly string[];
}

export interface ListedChain {
  /** Everything in it but its comment, line by line: the hook of a base chain, then its rules. */
  readonly lines: readonly string[];
}

const BLOCK = /^\t(set|map|chain) (\S+) \{$/;
const END_OF_BLOCK = "\t}";
const ELEMENTS = "elements = { ";
/** Of the table itself, before all that it holds. */
const FLAGS = /^table [^\n]*\n\tflags ([^\n]+)/;

type BlockKind = "set" | "map" | "chain";

interface Block {
  readonly kind: BlockKind;
  readonly name: string;
  readonly lines: readonly string[];
}

/** Reads what `nft` prints of one table. Lines that it does not know are passed over. */
export function parseListing(text: string): NftListing {
  const containers = new Map<string, ListedContainer>();
  const chains = new Map<string, ListedChain>();
  for (const { kind, name, lines } of blocksOf(text)) {
    if (kind === "chain") chains.set(name, { lines: lines.filter(isNoComment) });
    else containers.set(name, { kind, ...containerIn(lines) });
  }
  return { flags: flagsIn(text), containers, chains };
}

function flagsIn(text: string): readonly string[] {
  return FLAGS.exec(text)?.[1]?.split(",") ?? EMPTY;
}

function* blocksOf(text: string): Generator<Block> {
  let block: { kind: BlockKind; name: string; lines: string[] } | undefined;
  for (const line of linesOf(text)) {
    const [, kind, name] = line.endsWith(" {") ? (BLOCK.exec(line) ?? []) : [];
    if (isKind(kind) && name !== undefined) {
      block = { kind, name, lines: [] };
    } else if (line !== END_OF_BLOCK) {
      block?.lines.push(line.trim());
    } else if (block !== undefined) {
      yield block;
      block = undefined;
    }
  }
}

function isKind(text: string | undefined): text is BlockKind {
  return text === "set" || text === "map" || text === "chain";
}

/** One by one: a table may have hundreds of thousands of them. */
function* linesOf(text: string): Generator<string> {
  let from = 0;
  for (let to = text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
    yield text.slice(from, to);
    from = to + 1;
  }
  if (from < text.length) yield text.slice(from);
}

function isNoComment(line: string): boolean {
  return !line.startsWith("comment ");
}

/** Elements are the last lines of a container, separated by commas, from one line to the next. */
function containerIn(lines: readonly string[]): Omit<ListedContainer, "kind"> {
  const first = lines.findIndex((line) => line.startsWith(ELEMENTS));
  const head = first < 0 ? lines : lines.slice(0, first);
  return {
    properties: head.filter(isNoComment),
    elements: first < 0 ? [] : elementsIn(lines.slice(first)),
  };
}

function elementsIn(lines: readonly string[]): readonly string[] {
  const elements: string[] = [];
  for (const line of lines) {
    const start = line.startsWith(ELEMENTS) ? ELEMENTS.length : 0;
    const end = line.endsWith(",")
      ? line.length - 1
      : line.endsWith(" }")
        ? line.length - 2
        : line.length;
    for (const element of line.slice(start, end).split(SEPARATOR)) {
      elements.push(element.replace(RUNNING_TIMEOUT, ""));
    }
  }
  return elements;
}

/** Short elements share a line; a comment holds no comma that is followed by a space. */
const SEPARATOR = ", ";
const RUNNING_TIMEOUT = / timeout \S+ expires \S+/;
