import type { UnservedListener } from "../backend.ts";

/** So many names stand in a line; the rest is counted. */
const MAX_NAMED = 5;

/** What can not be honoured, by reason: one line for each, however many things it is about. */
export class NotHonoured {
  readonly #subjects = new Map<string, Set<string>>();
  readonly #unserved: UnservedListener[] = [];

  /** @param reason a statement in words; @param subject what it is about: `Service default/web` */
  add(reason: string, subject: string): void {
    const subjects = this.#subjects.get(reason);
    if (subjects === undefined) this.#subjects.set(reason, new Set([subject]));
    else subjects.add(subject);
  }

  /** A listener that is not served as it was asked for. */
  addListener(reason: string, key: string): void {
    this.add(reason, `Listener ${key}`);
    this.#unserved.push({ listener: key, reason });
  }

  /** A listener that should be open here, and can not be. */
  addClosed(reason: string, key: string): void {
    this.add(reason, `Listener ${key}`);
    this.#unserved.push({ listener: key, reason, isClosed: true });
  }

  get unserved(): readonly UnservedListener[] {
    return this.#unserved;
  }

  lines(): readonly string[] {
    return [...this.#subjects].map(
      ([reason, subjects]) => `${reason}: ${enumerate([...subjects])}`,
    );
  }
}

/** The first few names; how many others there are. */
export function enumerate(names: readonly string[]): string {
  const named = names.slice(0, MAX_NAMED).join(", ");
  const others = names.length - MAX_NAMED;
  return others > 0 ? `${named} and ${others} more` : named;
}
