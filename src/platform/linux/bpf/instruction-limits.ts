import { CoreError } from "../../../core/errors.ts";

const OFFSET_LIMIT = 2 ** 15;
const LOWEST_IMMEDIATE = -(2 ** 31);
const IMMEDIATE_LIMIT = 2 ** 32;

/** Up to 2^32: masks are told unsigned, too. @throws CoreError ERR_USAGE */
export function immediateOf(value: number): number {
  if (Number.isInteger(value) && value >= LOWEST_IMMEDIATE && value < IMMEDIATE_LIMIT) {
    return value | 0;
  }
  throw refused(`${value} is no immediate of 32 bits; loadWide takes 64`);
}

/** Of jumps, loads and stores. @throws CoreError ERR_USAGE */
export function checkOffset(offset: number, what: string): void {
  if (offset >= -OFFSET_LIMIT && offset < OFFSET_LIMIT) return;
  throw refused(`${what} is ${offset} away; expected less than ${OFFSET_LIMIT}`);
}

export function refused(what: string): CoreError {
  return new CoreError("ERR_USAGE", `an eBPF program can not be built: ${what}`);
}
