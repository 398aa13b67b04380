import { CoreError } from "../../core/errors.ts";
import type { Action, Caller, ResourceRef } from "../command.ts";
import type { Control } from "../control.ts";
import type { ResourceName } from "../resource-names.ts";
import type { ResourceSpec } from "../resource-spec.ts";
import { notFound } from "../resources/refusals.ts";
import type { Cell, Result } from "../result.ts";
import { fieldsOf, type JsonRecord, jsonRecord } from "./render-result.ts";

/** A thing with the things in it, by their types. */
export type JsonThing = Readonly<
  Record<string, Cell | Readonly<Record<string, readonly JsonRecord[]>>>
>;

const DEFAULT_NAMESPACE = /^default\//;

/** Reads through the table of commands, for one caller. */
export class ThingReader {
  readonly #control: Control;
  readonly #caller: Caller;

  constructor(control: Control, caller: Caller) {
    this.#control = control;
    this.#caller = caller;
  }

  run(action: Action, type: ResourceName, within: readonly ResourceRef[]): Promise<Result> {
    const params = new Map<string, never>();
    const command = { kind: "resource", action, type, name: "", within, params } as const;
    return this.#control.run(command, this.#caller);
  }

  async records(
    resource: ResourceSpec,
    within: readonly ResourceRef[],
  ): Promise<readonly JsonRecord[]> {
    const result = await this.run("list-detail", resource.name, within);
    if (result.kind !== "records") {
      throw new TypeError(`list-detail ${resource.name} gave ${result.kind}, not records`);
    }
    const fields = fieldsOf(resource);
    return result.records.map((record) => jsonRecord(record, fields));
  }

  /** @throws CoreError ERR_NOT_FOUND */
  async one(
    resource: ResourceSpec,
    name: string,
    within: readonly ResourceRef[],
  ): Promise<JsonRecord> {
    const records = await this.records(resource, within);
    const wanted = name.replace(DEFAULT_NAMESPACE, "");
    const found = records.find((record) => record["name"] === wanted);
    if (found !== undefined) return found;
    const known = records.map((record) => String(record["name"]));
    throw notFound(resource.name, name, known);
  }

  /** A thing with all that is in it. */
  async withContents(
    resource: ResourceSpec,
    record: JsonRecord,
    within: readonly ResourceRef[],
  ): Promise<JsonThing> {
    const place = [{ type: resource.name, name: String(record["name"]) }, ...within];
    const types = place.map(({ type }) => type);
    const contents: Record<string, readonly JsonRecord[]> = {};
    for (const child of childrenOf(this.#control.resources, types)) {
      contents[child.name] = await this.records(child, place);
    }
    return Object.keys(contents).length === 0 ? record : { ...record, contains: contents };
  }

  /** Everything that stands by itself, with its contents, by types. */
  async everything(): Promise<Readonly<Record<string, readonly JsonThing[]>>> {
    const all: Record<string, readonly JsonThing[]> = {};
    for (const resource of childrenOf(this.#control.resources, [])) {
      if (resource.isSystem && !this.#caller.maySystem) continue;
      const things = await this.#things(resource);
      if (things !== undefined) all[resource.name] = things;
    }
    return all;
  }

  /** Undefined where this instance has nothing of the kind, such as loops without a proxy. */
  async #things(resource: ResourceSpec): Promise<readonly JsonThing[] | undefined> {
    try {
      const things: JsonThing[] = [];
      for (const record of await this.records(resource, [])) {
        things.push(await this.withContents(resource, record, []));
      }
      return things;
    } catch (error) {
      if (error instanceof CoreError && error.code === "ERR_NOT_POSSIBLE_HERE") return undefined;
      throw error;
    }
  }
}

/** Modules that may stand in just this place and can be listed there. */
function childrenOf(
  resources: readonly ResourceSpec[],
  place: readonly ResourceName[],
): readonly ResourceSpec[] {
  const isHere = (within: readonly ResourceName[]): boolean =>
    within.length === place.length && within.every((type, index) => type === place[index]);
  return resources.filter(
    ({ section, scopes }) =>
      section === "module" &&
      scopes.some(
        (scope) => scope.actions["list-detail"] !== undefined && scope.within.some(isHere),
      ),
  );
}
