import { type ElementLayout, encodeFields } from "./element-layout.ts";
import { NF_DROP, NFT_GOTO } from "./nftables-words.ts";

/** What becomes of a packet. */
export interface Verdict {
  readonly code: number;
  /** Where it goes to. */
  readonly chain?: string;
}

/** An element of a set or map in the bytes of the kernel. */
export interface EncodedElement {
  readonly key: Uint8Array;
  readonly value?: Uint8Array | Verdict;
  readonly comment?: string;
}

/** An element as nft writes it. */
export interface ElementText {
  readonly key: string;
  readonly value?: string;
  readonly comment?: string;
}

const GOTO = "goto ";

/** Undefined where the text is not of this layout. */
export function encodeElement(
  layout: ElementLayout,
  { key: keyText, value: valueText, comment }: ElementText,
): EncodedElement | undefined {
  const key = encodeFields(layout.key, keyText);
  if (key === undefined) return undefined;
  const note = comment === undefined ? {} : { comment };
  if (layout.value === undefined) return valueText === undefined ? { key, ...note } : undefined;
  if (valueText === undefined) return undefined;
  const value =
    layout.value === "verdict" ? encodeVerdict(valueText) : encodeFields(layout.value, valueText);
  return value === undefined ? undefined : { key, value, ...note };
}

/** As much as it takes to delete it. */
export function encodeKey(layout: ElementLayout, keyText: string): EncodedElement | undefined {
  const key = encodeFields(layout.key, keyText);
  return key === undefined ? undefined : { key };
}

function encodeVerdict(text: string): Verdict | undefined {
  if (text === "drop") return { code: NF_DROP };
  return text.startsWith(GOTO) ? { code: NFT_GOTO, chain: text.slice(GOTO.length) } : undefined;
}
