/** What is reached by a method and a path; names in the path stand in braces: `/server/{server}`. */
export interface RouteKey {
  readonly method: string;
  readonly path: string;
}

export type Found<R> =
  | { readonly kind: "route"; readonly route: R; readonly names: ReadonlyMap<string, string> }
  /** The path is known, the method is not. */
  | { readonly kind: "other methods"; readonly methods: readonly string[] }
  | { readonly kind: "unknown" }
  /** The path can not be decoded. */
  | { readonly kind: "malformed" };

interface Leaf<R> {
  readonly route: R;
  readonly nameKeys: readonly string[];
}

class Branch<R> {
  readonly words = new Map<string, Branch<R>>();
  anyName: Branch<R> | undefined;
  /** By method. */
  readonly leaves = new Map<string, Leaf<R>>();
}

/** Finds routes by the words of a path; a word that is written out goes before a name. */
export class Router<R extends RouteKey> {
  readonly #root = new Branch<R>();

  constructor(routes: Iterable<R>) {
    for (const route of routes) this.#add(route);
  }

  #add(route: R): void {
    let branch = this.#root;
    const nameKeys: string[] = [];
    for (const part of partsOf(route.path)) {
      const key = /^\{(.+)\}$/.exec(part)?.[1];
      if (key !== undefined) nameKeys.push(key);
      branch = key === undefined ? wordBranch(branch, part) : nameBranch(branch);
    }
    if (branch.leaves.has(route.method)) {
      throw new TypeError(`two routes are ${route.method} ${route.path}`);
    }
    branch.leaves.set(route.method, { route, nameKeys });
  }

  /** @param path as it was sent, without the query; `%2F` does not separate */
  find(method: string, path: string): Found<R> {
    const parts = decodeParts(path);
    if (parts === undefined) return { kind: "malformed" };
    const ends = [...endsOf(this.#root, parts, [])];
    const wanted = method === "HEAD" ? "GET" : method;
    for (const { branch, names } of ends) {
      const leaf = branch.leaves.get(wanted);
      if (leaf === undefined) continue;
      const pairs = leaf.nameKeys.map((key, index) => [key, names[index] ?? ""] as const);
      return { kind: "route", route: leaf.route, names: new Map(pairs) };
    }
    if (ends.length === 0) return { kind: "unknown" };
    const methods = new Set(ends.flatMap(({ branch }) => [...branch.leaves.keys()]));
    if (methods.has("GET")) methods.add("HEAD");
    return { kind: "other methods", methods: [...methods].sort() };
  }
}

function wordBranch<R>(branch: Branch<R>, word: string): Branch<R> {
  const next = branch.words.get(word) ?? new Branch<R>();
  branch.words.set(word, next);
  return next;
}

function nameBranch<R>(branch: Branch<R>): Branch<R> {
  branch.anyName ??= new Branch<R>();
  return branch.anyName;
}

interface End<R> {
  readonly branch: Branch<R>;
  readonly names: readonly string[];
}

/** All places that a path can mean, those with more words written out first. */
function* endsOf<R>(
  branch: Branch<R>,
  parts: readonly string[],
  names: readonly string[],
): Generator<End<R>> {
  const [part, ...rest] = parts;
  if (part === undefined) {
    if (branch.leaves.size > 0) yield { branch, names };
    return;
  }
  const word = branch.words.get(part);
  if (word !== undefined) yield* endsOf(word, rest, names);
  if (branch.anyName !== undefined && part !== "") {
    yield* endsOf(branch.anyName, rest, [...names, part]);
  }
}

function partsOf(path: string): readonly string[] {
  return path.split("/").slice(1);
}

/** Undefined where an escape is not valid. */
function decodeParts(path: string): readonly string[] | undefined {
  try {
    return partsOf(path).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
