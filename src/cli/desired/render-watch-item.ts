import { describe, keyOf, type ModelObject } from "../../core/model/object.ts";
import type { WatchItem } from "../../daemon/instance-socket/state-protocol.ts";
import type { Paint } from "../text/paint.ts";
import { renderChange } from "./render-changes.ts";

/** What an item is about; undefined where it is about none. */
export function objectOf(item: WatchItem): ModelObject | undefined {
  switch (item.event) {
    case "present":
      return item.object;
    case "synced":
      return undefined;
    case "changed":
      return item.after ?? item.before;
  }
}

/** `= Service default/web (file)` for what is there, then changes as `diff` shows them. */
export function renderWatchItem(item: WatchItem, paint: Paint): readonly string[] {
  switch (item.event) {
    case "present": {
      const { object, owner } = item;
      return [`= ${describe(object.kind, keyOf(object))}${ownerText(owner, paint)}`];
    }
    case "synced":
      return [paint("grey", `# that is all at revision ${item.revision}; now what changes`)];
    case "changed": {
      const [head = "", ...fields] = renderChange(item, paint);
      return [`${head}${ownerText(item.owner, paint)}`, ...fields];
    }
  }
}

function ownerText(owner: string, paint: Paint): string {
  return paint("grey", ` (${owner})`);
}
