import type { HeaderField } from "./header-field.ts";

export interface FieldLimits {
  /** As SETTINGS_MAX_HEADER_LIST_SIZE counts them. */
  readonly maxListBytes: number;
  readonly maxFields: number;
}

/** The fields of one message, or its trailers, in their order. */
export class FieldList {
  readonly fields: HeaderField[] = [];
  readonly #limits: FieldLimits;
  #listBytes = 0;
  #isTooLarge = false;

  constructor(limits: FieldLimits) {
    this.#limits = limits;
  }

  /** Then it does not hold all of them, and may not be used. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  add(field: HeaderField): void {
    this.#listBytes += field.size;
    const { maxListBytes, maxFields } = this.#limits;
    if (this.#listBytes > maxListBytes || this.fields.length >= maxFields) this.#isTooLarge = true;
    if (!this.#isTooLarge) this.fields.push(field);
  }
}
