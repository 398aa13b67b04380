import type { EngineNames, KnownName } from "../engine-names.ts";
import type { CachedName, EngineCommand, EngineReport } from "../loop/engine-messages.ts";
import type { Fleet } from "./fleet.ts";
import type { NameBook } from "./name-book.ts";

type NamesReport = Extract<EngineReport, { kind: "cached-names" }>;
type Forget = NonNullable<Extract<EngineCommand, { kind: "cached-names" }>["forget"]>;

interface Waiting {
  readonly place: number;
  readonly answer: (report: NamesReport | undefined) => void;
}

const MS_A_SECOND = 1000;

/** The names of servers, and those that listeners keep in their loops. */
export class KnownNames implements EngineNames {
  readonly #fleet: () => Fleet;
  readonly #book: NameBook;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;

  /** @param fleet throws where the engine is closed. */
  constructor(fleet: () => Fleet, book: NameBook) {
    this.#fleet = fleet;
    this.#book = book;
  }

  async list(): Promise<readonly KnownName[]> {
    const reports = await this.#askAll();
    const own = this.#book.list().map((entry) => ({ listener: "", ...entry }));
    return [...own, ...mergeNames(reports.flatMap(({ names }) => names))];
  }

  async forget(listener: string, name: string): Promise<boolean> {
    if (listener === "") return this.#book.renew(name);
    const reports = await this.#askAll({ listener, name: name.toLowerCase() });
    return reports.some(({ hasForgotten }) => hasForgotten);
  }

  answered(report: NamesReport): void {
    this.#settle(report.request, report);
  }

  /** It will not answer any more. */
  loopLost(lost: number): void {
    for (const [request, { place }] of [...this.#waiting]) {
      if (place === lost) this.#settle(request, undefined);
    }
  }

  async #askAll(forget?: Forget): Promise<readonly NamesReport[]> {
    const fleet = this.#fleet();
    const asked = fleet.places().map((place) => this.#ask(fleet, place, forget));
    return (await Promise.all(asked)).filter((report) => report !== undefined);
  }

  #ask(fleet: Fleet, place: number, forget: Forget | undefined): Promise<NamesReport | undefined> {
    this.#requests += 1;
    const request = this.#requests;
    return new Promise((answer) => {
      this.#waiting.set(request, { place, answer });
      const command = { kind: "cached-names", request, ...(forget && { forget }) } as const;
      if (!fleet.send(place, command)) this.#settle(request, undefined);
    });
  }

  #settle(request: number, report: NamesReport | undefined): void {
    this.#waiting.get(request)?.answer(report);
    this.#waiting.delete(request);
  }
}

/** Each name of a listener once, with the addresses of all families. */
function mergeNames(names: readonly CachedName[]): readonly KnownName[] {
  const merged = new Map<string, KnownName>();
  for (const { listener, name, addresses, leftSeconds } of names) {
    const key = `${listener}\n${name}`;
    const known = merged.get(key);
    merged.set(key, {
      listener,
      name,
      addresses: [...new Set([...(known?.addresses ?? []), ...addresses])],
      expiresInMs: Math.max(known?.expiresInMs ?? 0, leftSeconds * MS_A_SECOND),
    });
  }
  return [...merged.values()];
}
