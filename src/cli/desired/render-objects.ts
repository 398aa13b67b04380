import { dump } from "js-yaml";
import { KINDS, type Kind, type ObjectOf } from "../../core/model/object.ts";
import type { OwnedObject } from "../../daemon/instance-socket/state-protocol.ts";
import type { Paint } from "../text/paint.ts";
import { renderTable } from "../text/render-table.ts";
import { nameOf, OBJECT_COLUMNS } from "./object-columns.ts";
import { withoutDefaults } from "./without-defaults.ts";

/** Objects as tables, one for each kind that is there. */
export function renderTables(objects: readonly OwnedObject[], paint: Paint): string {
  const tables = KINDS.flatMap((kind) => {
    const rows = objects.flatMap(({ owner, object }) =>
      isOfKind(object, kind) ? [[nameOf(object), ...cellsOf(kind, object), owner]] : [],
    );
    if (rows.length === 0) return [];
    const columns = [
      { title: kind.toUpperCase() },
      ...OBJECT_COLUMNS[kind].columns,
      { title: "OWNER" },
    ];
    return [`${renderTable(columns, rows, paint).join("\n")}\n`];
  });
  return tables.join("\n");
}

function cellsOf<K extends Kind>(kind: K, object: ObjectOf<K>): readonly string[] {
  return OBJECT_COLUMNS[kind].cells(object);
}

function isOfKind<K extends Kind>(object: { readonly kind: Kind }, kind: K): object is ObjectOf<K> {
  return object.kind === kind;
}

/** A document for each, without what is only a default, which `apply` and `file:` read again; the owner stands in a comment. */
export function renderYaml(objects: readonly OwnedObject[]): string {
  return objects
    .map(({ owner, object }) => {
      const text = dump(withoutDefaults(object), { noRefs: true, lineWidth: -1 });
      return `---\n# owner: ${owner}\n${text}`;
    })
    .join("");
}

/** One document, which `apply` and `file:` read again. */
export function renderJson(objects: readonly OwnedObject[]): string {
  const document = { version: 1, objects: objects.map(({ object }) => object) };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
