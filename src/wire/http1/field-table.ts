import { type FieldName, fieldOf } from "./field-id.ts";

const NUMBERS_EACH = 4;
/** Most heads have fewer; the table grows with those that do not. */
const FIRST_FIELDS = 16;
const NAME_END = 1;
const VALUE_START = 2;
const VALUE_END = 3;

/**
 * The field lines of a head, as offsets into its bytes: nothing is copied. Filled anew for each head,
 * and good as long as those bytes are.
 */
export class FieldTable {
  readonly #max: number;
  #offsets: Int32Array = new Int32Array(FIRST_FIELDS * NUMBERS_EACH);
  readonly #names: FieldName[] = [];
  #count = 0;
  bytes: Buffer = Buffer.alloc(0);
  /** After the last field line. */
  end = 0;

  constructor(maxFields: number) {
    this.#max = maxFields;
  }

  get count(): number {
    return this.#count;
  }

  /** Empty again, for the head that ends at `end`. */
  begin(bytes: Buffer, end: number): void {
    this.bytes = bytes;
    this.end = end;
    this.#count = 0;
  }

  /** False where there is no room for it. */
  add(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): boolean {
    if (this.#count === this.#max) return false;
    const offset = this.#count * NUMBERS_EACH;
    if (offset === this.#offsets.length) this.#grow();
    this.#offsets[offset] = nameStart;
    this.#offsets[offset + NAME_END] = nameEnd;
    this.#offsets[offset + VALUE_START] = valueStart;
    this.#offsets[offset + VALUE_END] = valueEnd;
    this.#names[this.#count] = fieldOf(this.bytes, nameStart, nameEnd);
    this.#count += 1;
    return true;
  }

  field(index: number): FieldName {
    return this.#names[index] ?? "other";
  }

  /** Where the line begins. */
  nameStart(index: number): number {
    return index < this.#count ? this.#at(index, 0) : this.end;
  }

  nameEnd(index: number): number {
    return this.#at(index, NAME_END);
  }

  valueStart(index: number): number {
    return this.#at(index, VALUE_START);
  }

  valueEnd(index: number): number {
    return this.#at(index, VALUE_END);
  }

  name(index: number): string {
    return this.bytes.toString("latin1", this.nameStart(index), this.nameEnd(index));
  }

  value(index: number): string {
    return this.bytes.toString("latin1", this.valueStart(index), this.valueEnd(index));
  }

  /** The values of all fields of that name, in their order. */
  values(name: FieldName): readonly string[] {
    const values: string[] = [];
    for (let index = 0; index < this.#count; index++) {
      if (this.field(index) === name) values.push(this.value(index));
    }
    return values;
  }

  #grow(): void {
    const larger = new Int32Array(2 * this.#offsets.length);
    larger.set(this.#offsets);
    this.#offsets = larger;
  }

  #at(index: number, which: number): number {
    return this.#offsets[index * NUMBERS_EACH + which] ?? 0;
  }
}
