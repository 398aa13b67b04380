/**
 * The Huffman code of RFC 7541, appendix B. It is canonical: the codes follow from their lengths, the
 * shorter first, those of one length in the order of their symbols.
 */
const CODE_BITS: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
  28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5,
  6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6,
  7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23,
  23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22,
  22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22,
  23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27,
  27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25,
  24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];

const BYTE_BITS = 8;
const NODE_SIZE = 256;
/** Codes have at least so many bits, so a text is at most 8/5 as long as its code. */
const SHORTEST_BITS = 5;
const MALFORMED = -1;

/**
 * A tree whose nodes branch by whole bytes. An entry is 0 where no code goes, `-node` where the code
 * goes on in another node, else the symbol and how many bits of the byte are its own.
 */
const TREE: Int32Array = buildTree();

interface Code {
  readonly symbol: number;
  readonly bits: number;
  readonly value: number;
}

function codes(): readonly Code[] {
  const order = CODE_BITS.map((bits, symbol) => ({ symbol, bits })).sort(
    (a, b) => a.bits - b.bits || a.symbol - b.symbol,
  );
  let value = -1;
  let lastBits = order[0]?.bits ?? 0;
  return order.map(({ symbol, bits }) => {
    value = (value + 1) * 2 ** (bits - lastBits);
    lastBits = bits;
    return { symbol, bits, value };
  });
}

function buildTree(): Int32Array {
  const nodes: Int32Array[] = [new Int32Array(NODE_SIZE)];
  for (const { symbol, bits, value } of codes()) {
    let node = nodes[0];
    let left = bits;
    for (; left > BYTE_BITS; left -= BYTE_BITS) {
      node = node && descend(nodes, node, (value >>> (left - BYTE_BITS)) & 0xff);
    }
    const first = (value << (BYTE_BITS - left)) & 0xff;
    node?.fill(leafOf(symbol, left), first, first + (1 << (BYTE_BITS - left)));
  }
  const tree = new Int32Array(nodes.length * NODE_SIZE);
  for (const [index, node] of nodes.entries()) tree.set(node, index * NODE_SIZE);
  return tree;
}

function descend(nodes: Int32Array[], node: Int32Array, byte: number): Int32Array | undefined {
  if (node[byte] === 0) {
    node[byte] = -nodes.length;
    nodes.push(new Int32Array(NODE_SIZE));
  }
  return nodes[-(node[byte] ?? 0)];
}

function leafOf(symbol: number, bits: number): number {
  return (symbol << BYTE_BITS) | bits;
}

/** How many bytes the text of so many bytes of code has at most. */
export function maxHuffmanTextBytes(codeBytes: number): number {
  return Math.ceil((codeBytes * BYTE_BITS) / SHORTEST_BITS);
}

/**
 * Decodes into `text`, which has room for `maxHuffmanTextBytes`, from its beginning. How many bytes;
 * -1 where it is no such code, or not padded as it must be.
 */
export function decodeHuffman(
  bytes: Uint8Array,
  start: number,
  end: number,
  text: Uint8Array,
): number {
  let length = 0;
  let node = 0;
  let bits = 0;
  let count = 0;
  for (let at = start; at < end; at++) {
    bits = ((bits << BYTE_BITS) | (bytes[at] ?? 0)) & 0xffff;
    count += BYTE_BITS;
    while (count >= BYTE_BITS) {
      const entry = TREE[node * NODE_SIZE + ((bits >>> (count - BYTE_BITS)) & 0xff)] ?? 0;
      if (entry === 0) return MALFORMED;
      if (entry < 0) {
        node = -entry;
        count -= BYTE_BITS;
      } else {
        text[length++] = entry >>> BYTE_BITS;
        count -= entry & 0xff;
        node = 0;
      }
    }
  }
  return decodeLast(bits, count, node, text, length);
}

/** Less than a byte is left: short codes, and then ones to the end. */
function decodeLast(
  bits: number,
  bitCount: number,
  node: number,
  text: Uint8Array,
  textLength: number,
): number {
  let count = bitCount;
  let length = textLength;
  // A code that has used up a byte already can not end in what is left: its padding would be too long.
  if (node !== 0) return MALFORMED;
  for (;;) {
    const entry = TREE[(bits << (BYTE_BITS - count)) & 0xff] ?? 0;
    const used = entry & 0xff;
    if (entry <= 0 || used > count) break;
    text[length++] = entry >>> BYTE_BITS;
    count -= used;
  }
  const ones = (1 << count) - 1;
  return (bits & ones) === ones ? length : MALFORMED;
}
