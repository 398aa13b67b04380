import { CoreError } from "../../core/errors.ts";
import { describe, keyOf, type ModelObject } from "../../core/model/object.ts";
import { CONTROL_OWNER, type ControlWorld, type DesiredChange } from "../world.ts";
import { type StateView, viewOf } from "./state-view.ts";

type Committing = Pick<ControlWorld, "store" | "commit">;

/**
 * Makes a change true. Where sources have an order, an object whose name or address an earlier source
 * has would wait until that is free: what is commanded is so at once or refused.
 * @returns what is still under way of it, for people; empty where nothing is
 * @throws CoreError ERR_KEY_TAKEN, ERR_ADDRESS_TAKEN, and what the instance says
 */
export async function commitChange(world: Committing, change: DesiredChange): Promise<string> {
  if (change.set.length === 0 && change.delete.length === 0) return "";
  const { store } = world;
  const inverse = store.isOrdered ? inverseOf(change, viewOf(store)) : undefined;
  const note = await world.commit(change);
  if (inverse === undefined) return note;
  const waiting = change.set.find(
    (object) => store.ownerOf(object.kind, keyOf(object)) !== CONTROL_OWNER,
  );
  if (waiting === undefined) return note;
  const refusal = takenByOther(waiting, world);
  await world.commit(inverse);
  throw refusal;
}

function inverseOf(change: DesiredChange, view: StateView): DesiredChange {
  const keys = [
    ...change.delete,
    ...change.set.map((object) => ({ kind: object.kind, key: keyOf(object) })),
  ];
  const isOurs = ({ kind, key }: (typeof keys)[number]): boolean =>
    view.ownerOf(kind, key) === CONTROL_OWNER;
  return {
    set: keys
      .filter(isOurs)
      .map(({ kind, key }) => view.get(kind, key))
      .filter((object) => object !== undefined),
    delete: keys.filter((each) => !isOurs(each)),
  };
}

function takenByOther(object: ModelObject, { store }: Committing): CoreError {
  const key = keyOf(object);
  const what = describe(object.kind, key);
  const conflict = store
    .conflicts()
    .find((each) => each.owner === CONTROL_OWNER && each.kind === object.kind && each.key === key);
  const isKey = conflict === undefined || conflict.what === what;
  return new CoreError(
    isKey ? "ERR_KEY_TAKEN" : "ERR_ADDRESS_TAKEN",
    `${what} claims ${conflict?.what ?? what}, which ${conflict?.heldBy ?? "another source"} holds`,
  );
}
