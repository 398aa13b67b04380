import type { PathPart } from "../../core/model/problems.ts";

/** A tree without aliases has fewer nodes than its text has characters; this is for fair use of them. */
const MAX_NODES_PER_CHARACTER = 10;
const MAX_DEPTH = 100;

/** Whether the aliases of a document multiply (or contain themselves), so that it should not be walked. */
export function expandsTooFar(raw: unknown, textLength: number): boolean {
  let left = textLength * MAX_NODES_PER_CHARACTER;
  const stack = [raw];
  while (stack.length > 0 && left >= 0) {
    const node = stack.pop();
    left--;
    if (typeof node !== "object" || node === null) continue;
    for (const inner of Object.values(node)) stack.push(inner);
  }
  return left < 0;
}

/** What no state file has any use for, and what would harm those who copy or walk it. */
export interface Excess {
  readonly path: readonly PathPart[];
  readonly value: unknown;
  readonly expected: string;
}

interface Place {
  readonly node: unknown;
  readonly path: readonly PathPart[];
}

/** A key `__proto__`, or a place that is nested too deep, where there is one. */
export function findExcess(raw: unknown): Excess | undefined {
  const stack: Place[] = [{ node: raw, path: [] }];
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    const { node, path } = place;
    if (typeof node !== "object" || node === null) continue;
    const excess = excessAt(node, path);
    if (excess !== undefined) return excess;
    for (const [key, inner] of Object.entries(node)) {
      stack.push({ node: inner, path: [...path, Array.isArray(node) ? Number(key) : key] });
    }
  }
  return undefined;
}

function excessAt(node: object, path: readonly PathPart[]): Excess | undefined {
  if (path.length > MAX_DEPTH) {
    return { path: path.slice(0, 1), value: node, expected: `at most ${MAX_DEPTH} levels` };
  }
  if (!Object.hasOwn(node, "__proto__")) return undefined;
  return { path: [...path, "__proto__"], value: "__proto__", expected: "another key" };
}
