import { isRaw, type Raw } from "../../core/model/raw-reader.ts";

const ANNOTATION = "endpoints.kubernetes.io/last-change-trigger-time";

/**
 * When the changes began that slices tell of: a pod became ready, say. Known for each slice, as one
 * that is told again with the same time brings nothing new.
 */
export class TriggerTimes {
  readonly #last = new Map<string, string>();
  #pending: number[] = [];

  set(id: string, slice: Raw): void {
    const metadata = slice["metadata"];
    const annotations = isRaw(metadata) ? metadata["annotations"] : undefined;
    const text = isRaw(annotations) ? annotations[ANNOTATION] : undefined;
    if (typeof text !== "string" || this.#last.get(id) === text) return;
    this.#last.set(id, text);
    const ms = Date.parse(text);
    if (!Number.isNaN(ms)) this.#pending.push(ms);
  }

  delete(id: string): void {
    this.#last.delete(id);
  }

  /** Those since it was last asked. */
  take(): readonly number[] {
    const pending = this.#pending;
    this.#pending = [];
    return pending;
  }
}
