import type { ModelObject } from "../../core/model/object.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { Source, SourceReporter } from "../source.ts";

export interface GivenSourceOptions {
  readonly owner: string;
  readonly objects: readonly ModelObject[];
}

/** A source of objects that are known from the start and never change, such as what a command line said. */
export function createGivenSource({ owner, objects }: GivenSourceOptions): Source {
  return {
    owner,
    start: async (store: GlobalStore, report: SourceReporter) => {
      store.register(owner);
      store.transact(owner, (transaction) => transaction.replaceAll(objects));
      store.markSynced(owner);
      report.ok(`${objects.length} objects`);
    },
    close: async () => undefined,
  };
}
