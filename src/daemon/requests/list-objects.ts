import { KINDS, type Kind, keyOf } from "../../core/model/object.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { GetParams, OwnedObject } from "../instance-socket/state-protocol.ts";

/** The objects of a store that are asked for, by kind, then by key. */
export function listObjects(
  store: GlobalStore,
  { kinds = KINDS, key }: GetParams,
): readonly OwnedObject[] {
  const objects = kinds.flatMap((kind) => ownedOf(store, kind));
  return key === undefined ? objects : objects.filter(({ object }) => keyOf(object) === key);
}

function ownedOf(store: GlobalStore, kind: Kind): readonly OwnedObject[] {
  return [...store.objects(kind)]
    .map((object) => ({ key: keyOf(object), object }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key, object }) => ({ owner: store.ownerOf(kind, key) ?? "", object }));
}
