import { parseSync, Visitor } from "oxc-parser";
import { StepError } from "./command.mjs";

/** @typedef {{ readonly specifier: string, readonly line: number }} Import */

/**
 * Everything that a TypeScript file imports, in any way: `import`, `import type`, `export from`,
 * `import("...")` as a value and as a type.
 * @param {string} path
 * @param {string} text
 * @returns {readonly Import[]}
 */
export function importsOf(path, text) {
  const { program, errors } = parseSync(path, text);
  const [problem] = errors;
  if (problem !== undefined) throw new StepError(`${path}: ${problem.message}`);
  /** @type {Import[]} */
  const found = [];
  /** @param {{ readonly source: { readonly type: string, readonly start: number, readonly value?: unknown } | null }} node */
  const collect = ({ source }) => {
    if (source === null) return;
    const line = text.slice(0, source.start).split("\n").length;
    if (typeof source.value === "string") found.push({ specifier: source.value, line });
    else throw new StepError(`${path}:${line}: import() of a computed name; name the module`);
  };
  new Visitor({
    ImportDeclaration: collect,
    ExportNamedDeclaration: collect,
    ExportAllDeclaration: collect,
    ImportExpression: collect,
    TSImportType: collect,
  }).visit(program);
  return found;
}
