import { enumerateNames } from "./enumerate-names.ts";

/** One line for each reason, however many things it is about. */
export function limitLines(limits: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const subjects = new Map<string, string[]>();
  for (const [subject, reasons] of limits) {
    for (const reason of reasons) {
      const known = subjects.get(reason);
      if (known === undefined) subjects.set(reason, [subject]);
      else known.push(subject);
    }
  }
  return [...subjects].map(([reason, names]) => `${reason}: ${enumerateNames(names)}`);
}
