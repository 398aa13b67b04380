import * as z from "zod";
import { KINDS, type Kind, type ModelObject } from "../../core/model/object.ts";
import { checkObject } from "../../core/model/parse.ts";
import { formatProblem } from "../../core/model/problems.ts";

/** What an object became; `before` is missing where it was not there, `after` where it is gone. */
export interface ChangedObject {
  readonly action: "create" | "update" | "delete";
  readonly kind: Kind;
  readonly key: string;
  readonly before?: ModelObject | undefined;
  readonly after?: ModelObject | undefined;
}

export interface ObjectName {
  readonly kind: Kind;
  readonly key: string;
}

export interface ApplyParams {
  /** As files of Portolan's own form hold them; fields with a default may be missing. */
  readonly objects: readonly unknown[];
  /** Whether all else that `control` owns goes. */
  readonly prune: boolean;
  readonly dryRun: boolean;
}

export interface DeleteParams {
  readonly objects: readonly ObjectName[];
  /** Whether also what others lead to. */
  readonly force?: boolean | undefined;
  readonly dryRun: boolean;
}

/** In the order in which they are made; empty where all was so already. */
export interface ChangesResult {
  readonly changes: readonly ChangedObject[];
  /** Of the state, now. */
  readonly revision: number;
  /** What is still under way of it, for people. */
  readonly note?: string | undefined;
}

export interface GetParams {
  /** All where it is missing. */
  readonly kinds?: readonly Kind[] | undefined;
  readonly key?: string | undefined;
}

export interface OwnedObject {
  readonly owner: string;
  readonly object: ModelObject;
}

export interface GetResult {
  readonly revision: number;
  /** By kind, then by key. */
  readonly objects: readonly OwnedObject[];
}

export interface WatchParams {
  /** All where it is missing. */
  readonly kinds?: readonly Kind[] | undefined;
}

/** First the present state, then `synced`, then changes as they come. */
export type WatchItem =
  | (OwnedObject & { readonly event: "present"; readonly revision: number })
  | { readonly event: "synced"; readonly revision: number }
  | (ChangedObject & {
      readonly event: "changed";
      /** Whose it is, or was. */
      readonly owner: string;
      readonly revision: number;
    });

const kind = z.enum(KINDS);

const modelObject: z.ZodType<ModelObject> = z.unknown().transform((raw, context) => {
  const checked = checkObject(raw);
  if (checked.ok) return checked.value;
  for (const problem of checked.problems) {
    context.addIssue({ code: "custom", message: formatProblem(problem) });
  }
  return z.NEVER;
});

const owned = { owner: z.string(), object: modelObject };

const changed = {
  action: z.enum(["create", "update", "delete"]),
  kind,
  key: z.string(),
  before: modelObject.optional(),
  after: modelObject.optional(),
};

export const applyParams: z.ZodType<ApplyParams> = z.strictObject({
  objects: z.array(z.unknown()),
  prune: z.boolean().default(false),
  dryRun: z.boolean().default(false),
});

export const deleteParams: z.ZodType<DeleteParams> = z.strictObject({
  objects: z.array(z.strictObject({ kind, key: z.string().min(1) })).min(1),
  force: z.boolean().optional(),
  dryRun: z.boolean().default(false),
});

export const changesResult: z.ZodType<ChangesResult> = z.object({
  changes: z.array(z.object(changed)),
  revision: z.number(),
  note: z.string().optional(),
});

export const getParams: z.ZodType<GetParams> = z.strictObject({
  kinds: z.array(kind).optional(),
  key: z.string().min(1).optional(),
});

export const getResult: z.ZodType<GetResult> = z.object({
  revision: z.number(),
  objects: z.array(z.object(owned)),
});

export const watchParams: z.ZodType<WatchParams> = z.strictObject({
  kinds: z.array(kind).optional(),
});

export const watchItem: z.ZodType<WatchItem> = z.discriminatedUnion("event", [
  z.object({ event: z.literal("present"), revision: z.number(), ...owned }),
  z.object({ event: z.literal("synced"), revision: z.number() }),
  z.object({ event: z.literal("changed"), owner: z.string(), revision: z.number(), ...changed }),
]);
