import { AttributeCursor } from "../attribute-cursor.ts";
import { NFGENMSG_BYTES } from "../conntrack/conntrack-words.ts";
import { NLM_F_DUMP, NLM_F_REQUEST } from "../netlink-words.ts";
import type { NetlinkWriter } from "../netlink-writer.ts";
import { type ElementMessage, FAMILY_NUMBERS } from "./element-batch.ts";
import type { ElementText } from "./element-encoder.ts";
import { decodeFields, type ElementLayout } from "./element-layout.ts";
import {
  NF_ACCEPT,
  NF_DROP,
  NFT_GOTO,
  NFT_JUMP,
  NFT_MSG_GETSETELEM,
  NFTA_DATA_VALUE,
  NFTA_DATA_VERDICT,
  NFTA_SET_ELEM_DATA,
  NFTA_SET_ELEM_KEY,
  NFTA_SET_ELEM_LIST_ELEMENTS,
  NFTA_SET_ELEM_LIST_SET,
  NFTA_SET_ELEM_LIST_TABLE,
  NFTA_SET_ELEM_USERDATA,
  NFTA_VERDICT_CHAIN,
  NFTA_VERDICT_CODE,
  UDATA_COMMENT,
} from "./nftables-words.ts";

/** Which set or map is asked for. */
export type DumpedContainer = Pick<ElementMessage, "family" | "table" | "container">;

/** Asks for all elements. */
export function writeElementDump(
  writer: NetlinkWriter,
  sequence: number,
  { family, table, container }: DumpedContainer,
): void {
  const flags = NLM_F_REQUEST | NLM_F_DUMP;
  writer.message({ type: NFT_MSG_GETSETELEM, flags, sequence }, () => {
    writer.header([FAMILY_NUMBERS[family], 0, 0, 0]);
    writer.text(NFTA_SET_ELEM_LIST_TABLE, table);
    writer.text(NFTA_SET_ELEM_LIST_SET, container);
  });
}

const VERDICTS: ReadonlyMap<number, string> = new Map([
  [NF_DROP, "drop"],
  [NF_ACCEPT, "accept"],
]);
const WAYS: ReadonlyMap<number, string> = new Map([
  [NFT_GOTO, "goto"],
  [NFT_JUMP, "jump"],
]);
const DECODER = new TextDecoder();
/** A type and a length, then the text with a zero byte at its end. */
const COMMENT_AT = 2;

/** Reads the parts of a dump; as nft would write them. */
export class ElementDumpReader {
  readonly #layout: ElementLayout;
  readonly #take: (element: ElementText) => void;
  readonly #message = new AttributeCursor();
  readonly #list = new AttributeCursor();
  readonly #element = new AttributeCursor();
  readonly #data = new AttributeCursor();
  readonly #verdict = new AttributeCursor();
  /** Whether there was something that is not of the layout, such as a time-out: it was not told. */
  isStrange = false;

  constructor(layout: ElementLayout, take: (element: ElementText) => void) {
    this.#layout = layout;
    this.#take = take;
  }

  /** Takes the payload of one message. */
  feed(view: DataView, from: number, to: number): void {
    const message = this.#message;
    message.enter(view, from + NFGENMSG_BYTES, to);
    while (message.next()) {
      if (message.type !== NFTA_SET_ELEM_LIST_ELEMENTS) continue;
      message.into(this.#list);
      while (this.#list.next()) {
        const element = this.#read(view);
        if (element === undefined) this.isStrange = true;
        else this.#take(element);
      }
    }
  }

  #read(view: DataView): ElementText | undefined {
    const element = this.#element;
    this.#list.into(element);
    let key: string | undefined;
    let value: string | undefined;
    let comment: string | undefined;
    while (element.next()) {
      switch (element.type) {
        case NFTA_SET_ELEM_KEY:
          key = this.#fields(this.#layout.key, view);
          break;
        case NFTA_SET_ELEM_DATA:
          value = this.#value(view);
          break;
        case NFTA_SET_ELEM_USERDATA:
          comment = this.#comment();
          if (comment === undefined) return undefined;
          break;
        default:
          return undefined;
      }
    }
    const hasValue = this.#layout.value !== undefined;
    if (key === undefined || hasValue !== (value !== undefined)) return undefined;
    return { key, ...(value && { value }), ...(comment !== undefined && { comment }) };
  }

  #value(view: DataView): string | undefined {
    const { value } = this.#layout;
    if (value === undefined) return undefined;
    return value === "verdict" ? this.#verdictText() : this.#fields(value, view);
  }

  #fields(fields: ElementLayout["key"], view: DataView): string | undefined {
    const data = this.#data;
    this.#element.into(data);
    if (!data.next() || data.type !== NFTA_DATA_VALUE) return undefined;
    return decodeFields(fields, view, data.at, data.length);
  }

  #verdictText(): string | undefined {
    const [data, verdict] = [this.#data, this.#verdict];
    this.#element.into(data);
    if (!data.next() || data.type !== NFTA_DATA_VERDICT) return undefined;
    data.into(verdict);
    let code = 0;
    let chain: string | undefined;
    while (verdict.next()) {
      if (verdict.type === NFTA_VERDICT_CODE) code = verdict.be32() | 0;
      if (verdict.type === NFTA_VERDICT_CHAIN) chain = verdict.text();
    }
    if (chain === undefined) return VERDICTS.get(code);
    const way = WAYS.get(code);
    return way && `${way} ${chain}`;
  }

  #comment(): string | undefined {
    const bytes = this.#element.bytes();
    const [type, length = 0] = bytes;
    if (type !== UDATA_COMMENT || COMMENT_AT + length !== bytes.length) return undefined;
    return DECODER.decode(bytes.subarray(COMMENT_AT, -1));
  }
}
