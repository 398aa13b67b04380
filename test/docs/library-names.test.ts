import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Program, parseSync, type Statement, Visitor } from "oxc-parser";
import { expect, test } from "vitest";

const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));
const ENTRIES = [
  join(DIST, "index.d.ts"),
  ...readdirSync(join(DIST, "library"))
    .filter((file) => file.endsWith(".d.ts"))
    .map((file) => join(DIST, "library", file)),
];

/** What a file of types says of names. */
interface Names {
  /** `FILE NAME` of what is imported or passed on, by the name that it has here. */
  readonly elsewhere: ReadonlyMap<string, string>;
  readonly passedOn: readonly string[];
  /** The types that each declaration mentions. */
  readonly mentions: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Exported as types alone: what their constructors take is nobody's concern. */
const NEVER_MADE = new Set(["HostDatagram", "MemoryHost"]);
/** A few words, which are as good as their name. */
const WORDS = new Set(["AccessWord", "WayWord"]);

const read = new Map<string, Names>();

function namesOf(file: string): Names {
  const known = read.get(file);
  if (known !== undefined) return known;
  const { program } = parseSync(file, readFileSync(file, "utf8"));
  const specifiers = program.body.flatMap((statement) => specifiersOf(file, statement));
  const names = {
    elsewhere: new Map(specifiers.map(({ name, place }) => [name, place])),
    passedOn: specifiers.flatMap(({ isImport, place }) => (isImport ? [] : [place])),
    mentions: new Map(
      program.body.flatMap((statement) => {
        const mentioned = typesIn({ ...program, body: [statement] });
        return declaredBy(statement).map((name) => [name, mentioned] as const);
      }),
    ),
  };
  read.set(file, names);
  return names;
}

interface Specifier {
  /** Here. */
  readonly name: string;
  /** `FILE NAME` there. */
  readonly place: string;
  readonly isImport: boolean;
}

function specifiersOf(file: string, statement: Statement): readonly Specifier[] {
  const isImport = statement.type === "ImportDeclaration";
  if (!isImport && statement.type !== "ExportNamedDeclaration") return [];
  const from = statement.source && pathOf(file, statement.source.value);
  if (!from) return [];
  return statement.specifiers.flatMap((each) => {
    if (!("name" in each.local)) return [];
    const { name } = each.local;
    const theirs = each.type === "ImportSpecifier" ? each.imported : each.local;
    const place = `${from} ${"name" in theirs ? theirs.name : name}`;
    return { name, place, isImport };
  });
}

function declaredBy(statement: Statement): readonly string[] {
  const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  const all = declared?.type === "VariableDeclaration" ? declared.declarations : [declared];
  return all.flatMap((one) => {
    const id = one && "id" in one ? one.id : undefined;
    return id?.type === "Identifier" ? [id.name] : [];
  });
}

function typesIn(program: Program): ReadonlySet<string> {
  const found = new Set<string>();
  new Visitor({
    TSTypeReference: ({ typeName }) => {
      if (typeName.type === "Identifier") found.add(typeName.name);
    },
  }).visit(program);
  return found;
}

function pathOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const path = join(dirname(file), specifier).replace(/\.ts$/, ".d.ts");
  return existsSync(path) ? path : undefined;
}

/** Where a name is declared that a file knows; undefined where it is none of ours. */
function declaredAt(file: string, name: string): string | undefined {
  const { elsewhere, mentions } = namesOf(file);
  const place = elsewhere.get(name);
  if (place === undefined) return mentions.has(name) ? `${file} ${name}` : undefined;
  const [there = "", theirs = ""] = place.split(" ");
  return declaredAt(there, theirs);
}

test("what an export of the library mentions is an export of it too", () => {
  const given = new Set(
    ENTRIES.flatMap((file) => namesOf(file).passedOn).flatMap((place) => {
      const [file = "", name = ""] = place.split(" ");
      return declaredAt(file, name) ?? [];
    }),
  );
  expect(given.size).toBeGreaterThan(100);
  const missing = [...given].flatMap((place) => {
    const [file = "", name = ""] = place.split(" ");
    if (NEVER_MADE.has(name)) return [];
    return [...(namesOf(file).mentions.get(name) ?? [])].flatMap((mentioned) => {
      const at = declaredAt(file, mentioned);
      return at === undefined || given.has(at) || WORDS.has(mentioned)
        ? []
        : [`${relative(DIST, at)}, of ${name}`];
    });
  });
  expect(missing).toEqual([]);
});
