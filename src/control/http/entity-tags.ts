import { createHash, randomBytes } from "node:crypto";

const HASH_BYTES = 9;
const START_BYTES = 6;
const TAG = /^"([\w-]+)\.(\d+)\.[\w-]*"$/;

/**
 * Tags of what was read. A tag holds the revision of the state and a hash of the body: health and
 * counters change without the state, so that `If-None-Match` compares both, while `If-Match` asks
 * only whether the state is still the one that was read. Another start of the instance counts its
 * revisions anew, hence the random part.
 */
export class EntityTags {
  readonly #start = randomBytes(START_BYTES).toString("base64url");

  of(revision: number, body: string): string {
    const hash = createHash("sha256").update(body).digest().subarray(0, HASH_BYTES);
    return `"${this.#start}.${revision}.${hash.toString("base64url")}"`;
  }

  /** Whether a header `If-None-Match` names this tag; caches may have made it a weak one. */
  isNamed(header: string, tag: string): boolean {
    return partsOf(header).some((part) => part === "*" || part.replace(/^W\//, "") === tag);
  }

  /** Whether a header `If-Match` names a state that is still there. */
  isCurrent(header: string, revision: number): boolean {
    return partsOf(header).some((part) => {
      if (part === "*") return true;
      const [, start, seen] = TAG.exec(part) ?? [];
      return start === this.#start && Number(seen) === revision;
    });
  }
}

function partsOf(header: string): readonly string[] {
  return header.split(",").map((part) => part.trim());
}
