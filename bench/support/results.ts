import * as z from "zod";

/** What a task printed, where it prints one number. */
export function numberFrom(result: unknown): number {
  return z.number().parse(result);
}

/** What a task printed, where it prints an object of numbers. */
export function numbersFrom<K extends string>(
  result: unknown,
  names: readonly K[],
): Readonly<Record<K, number>> {
  return z.record(z.enum(names), z.number()).parse(result);
}
