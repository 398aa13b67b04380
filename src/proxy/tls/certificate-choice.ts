import type { CertificateNames } from "./certificate-names.ts";

/**
 * Which certificates are for which host name. A choice is a list of indexes, one for each type of key: what
 * the client can verify is settled in the handshake.
 */
export class CertificateChoice {
  /** All choices that there are; the first is for clients that name no host, or one that is not known. */
  readonly choices: readonly (readonly number[])[];
  readonly #byName = new Map<string, number>();

  constructor(certificates: readonly CertificateNames[]) {
    const choices: (readonly number[])[] = [];
    const numberOf = (choice: readonly number[]): number => {
      const known = choices.findIndex((other) => other.join() === choice.join());
      return known >= 0 ? known : choices.push(choice) - 1;
    };
    const [first] = certificates;
    const [firstName] = first?.names ?? [];
    numberOf(firstName === undefined ? [0] : choiceFor(certificates, firstName));
    for (const name of new Set(certificates.flatMap(({ names }) => names))) {
      this.#byName.set(name, numberOf(choiceFor(certificates, name)));
    }
    this.choices = choices;
  }

  /** Its number, for a host name in lower case: an exact name before `*.`, which stands for one label. */
  numberFor(serverName: string): number {
    const exact = this.#byName.get(serverName);
    if (exact !== undefined) return exact;
    const dot = serverName.indexOf(".");
    const wildcard = dot < 0 ? undefined : this.#byName.get(`*${serverName.slice(dot)}`);
    return wildcard ?? 0;
  }
}

/** The first certificate of each type of key that has the name. */
function choiceFor(certificates: readonly CertificateNames[], name: string): readonly number[] {
  const byType = new Map<string, number>();
  for (const [index, { names, keyType }] of certificates.entries()) {
    if (names.includes(name) && !byType.has(keyType)) byType.set(keyType, index);
  }
  return [...byType.values()];
}
