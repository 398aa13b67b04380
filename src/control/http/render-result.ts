import type { ParamSpec, ResourceSpec } from "../resource-spec.ts";
import type { Cell, ResultRecord } from "../result.ts";

/** A thing as JSON has it. */
export type JsonRecord = Readonly<Record<string, Cell>>;

/** A record with the fields of JSON in place of the words of commands. */
export function jsonRecord(record: ResultRecord, fields: ReadonlyMap<string, string>): JsonRecord {
  return Object.fromEntries(
    Object.entries(record).map(([key, cell]) => [fields.get(key) ?? camelCase(key), cell]),
  );
}

/** The fields of JSON by the names of parameters, of all that can be done to a resource. */
export function fieldsOf(resource: ResourceSpec): ReadonlyMap<string, string> {
  return new Map(allParams(resource).map(({ name, field }) => [name, field]));
}

/** All parameters of a resource, each once. */
function allParams({ scopes }: ResourceSpec): readonly ParamSpec[] {
  const params = new Map<string, ParamSpec>();
  for (const { actions } of scopes) {
    for (const action of Object.values(actions)) {
      for (const param of action?.params ?? []) {
        if (!params.has(param.name)) params.set(param.name, param);
      }
    }
  }
  return [...params.values()];
}

/** `total-connections` as `totalConnections` */
export function camelCase(words: string): string {
  return words.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
