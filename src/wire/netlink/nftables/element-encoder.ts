import { NetlinkWriter } from "../netlink-writer.ts";
import { type ElementLayout, type FieldLayout, writeFields } from "./element-layout.ts";
import {
  NF_DROP,
  NFT_GOTO,
  NFTA_DATA_VALUE,
  NFTA_DATA_VERDICT,
  NFTA_LIST_ELEM,
  NFTA_SET_ELEM_DATA,
  NFTA_SET_ELEM_KEY,
  NFTA_SET_ELEM_USERDATA,
  NFTA_VERDICT_CHAIN,
  NFTA_VERDICT_CODE,
  UDATA_COMMENT,
} from "./nftables-words.ts";

/** An element as nft writes it. */
export interface ElementText {
  readonly key: string;
  readonly value?: string;
  readonly comment?: string;
}

/** Elements of a set or map in the bytes of the kernel. */
export interface EncodedElements {
  readonly count: number;
  readonly bytes: Uint8Array;
}

const GOTO = "goto ";
/** Behind its type and its length. */
const COMMENT_AT = 2;
const ENCODER = new TextEncoder();

/**
 * Encodes elements one behind the other. Nothing else is kept of them: where there are hundreds of
 * thousands, objects would take longer to keep than to make.
 */
export class ElementEncoder {
  readonly #layout: ElementLayout;
  readonly #hasKeyOnly: boolean;
  readonly #writer = new NetlinkWriter();
  #count = 0;

  /** @param verb only the key tells which element is deleted */
  constructor(layout: ElementLayout, verb: "add" | "delete") {
    this.#layout = layout;
    this.#hasKeyOnly = verb === "delete";
  }

  get count(): number {
    return this.#count;
  }

  /** @returns false where the text is not of the layout; then all that was added is lost */
  add({ key, value, comment }: ElementText): boolean {
    // Numbered as nft does it; the kernel does not look at that.
    const at = this.#writer.begin(NFTA_LIST_ELEM + this.#count);
    const isRight =
      this.#fields(NFTA_SET_ELEM_KEY, this.#layout.key, key) &&
      (this.#hasKeyOnly || this.#value(value));
    if (comment !== undefined && !this.#hasKeyOnly) this.#comment(comment);
    this.#writer.end(at);
    this.#count += 1;
    return isRight;
  }

  /** What was added since the last time. */
  take(): EncodedElements {
    const encoded = { count: this.#count, bytes: this.#writer.written().slice() };
    this.#writer.clear();
    this.#count = 0;
    return encoded;
  }

  #value(text: string | undefined): boolean {
    const layout = this.#layout.value;
    if (layout === undefined || text === undefined) return layout === text;
    if (layout !== "verdict") return this.#fields(NFTA_SET_ELEM_DATA, layout, text);
    const isDrop = text === "drop";
    if (!isDrop && !text.startsWith(GOTO)) return false;
    const writer = this.#writer;
    const at = writer.begin(NFTA_SET_ELEM_DATA);
    const verdictAt = writer.begin(NFTA_DATA_VERDICT);
    writer.be32(NFTA_VERDICT_CODE, isDrop ? NF_DROP : NFT_GOTO);
    if (!isDrop) writer.text(NFTA_VERDICT_CHAIN, text.slice(GOTO.length));
    writer.end(verdictAt);
    writer.end(at);
    return true;
  }

  #fields(type: number, layout: FieldLayout, text: string): boolean {
    const writer = this.#writer;
    const at = writer.begin(type);
    const valueAt = writer.place(NFTA_DATA_VALUE, layout.byteCount);
    writer.end(at);
    return writeFields(layout, text, writer.memory, valueAt);
  }

  /** Where nft keeps a comment, for which the kernel has no place; it ends with a zero byte. */
  #comment(comment: string): void {
    const text = ENCODER.encode(comment);
    const at = this.#writer.place(NFTA_SET_ELEM_USERDATA, COMMENT_AT + text.length + 1);
    const { memory } = this.#writer;
    memory[at] = UDATA_COMMENT;
    memory[at + 1] = text.length + 1;
    memory.set(text, at + COMMENT_AT);
  }
}
