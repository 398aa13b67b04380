import { describe } from "../../core/model/object.ts";
import { formatPath, type PathPart, showValue } from "../../core/model/problems.ts";
import type { ChangedObject } from "../../daemon/instance-socket/state-protocol.ts";
import type { Colour, Paint } from "../text/paint.ts";
import { fieldDifferences } from "./field-differences.ts";

type Action = ChangedObject["action"];

const MARKS: Readonly<Record<Action, { readonly mark: string; readonly colour: Colour }>> = {
  create: { mark: "+", colour: "green" },
  update: { mark: "~", colour: "yellow" },
  delete: { mark: "-", colour: "red" },
};

const PLAIN_TEXT = /^[\w./:@*[\]-]+$/;
const NO_VALUE = "(none)";

/** `+ Service default/web`; of one that is updated also the fields that differ. */
export function renderChange(change: ChangedObject, paint: Paint): readonly string[] {
  const { mark, colour } = MARKS[change.action];
  const head = paint(colour, `${mark} ${describe(change.kind, change.key)}`);
  if (change.action !== "update") return [head];
  const fields = fieldDifferences(change.before, change.after).map(({ path, before, after }) => {
    return `    ${formatPath(path)}: ${shown(before, path)} -> ${shown(after, path)}`;
  });
  return [head, ...fields];
}

/** All changes, and how many there are. */
export function renderChanges(changes: readonly ChangedObject[], paint: Paint): string {
  const lines = changes.flatMap((change) => renderChange(change, paint));
  return [...lines, summarize(changes)].map((line) => `${line}\n`).join("");
}

/** `3 changes: 1 created, 2 deleted`. */
export function summarize(changes: readonly ChangedObject[]): string {
  if (changes.length === 0) return "nothing differs";
  const counts = (["create", "update", "delete"] as const)
    .map((action) => ({ action, count: changes.filter((one) => one.action === action).length }))
    .filter(({ count }) => count > 0)
    .map(({ action, count }) => `${count} ${action}d`);
  return `${changes.length} ${changes.length === 1 ? "change" : "changes"}: ${counts.join(", ")}`;
}

/** Short, and never a secret. */
function shown(value: unknown, path: readonly PathPart[]): string {
  if (value === undefined) return NO_VALUE;
  const text = showValue(value, path);
  if (typeof value === "string") return PLAIN_TEXT.test(value) && isQuoted(text) ? value : text;
  if (Array.isArray(value)) return `[${value.map((entry) => shown(entry, path)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return text;
  const fields = Object.entries(value).map(([key, one]) => `${key}: ${shown(one, [...path, key])}`);
  return `{ ${fields.join(", ")} }`;
}

/** Whether it is shown in full: a secret is hidden, and what is long is cut. */
function isQuoted(text: string): boolean {
  return text.startsWith('"') && text.endsWith('"');
}
