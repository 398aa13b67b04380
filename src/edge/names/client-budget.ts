interface Account {
  left: number;
  atMs: number;
}

export interface BudgetOptions {
  /** So many questions a second, on and on. */
  readonly perSecond: number;
  /** So many at once. */
  readonly burst: number;
  /** Clients that are known at a time; the one that asked longest ago is forgotten. */
  readonly maxClients: number;
}

const MS_A_SECOND = 1000;

/** How much each client may ask: one that floods is not heard, and the others are. */
export class ClientBudget {
  readonly #options: BudgetOptions;
  readonly #accounts = new Map<string, Account>();

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  /** Whether it may ask once more now. */
  spend(client: string, nowMs: number): boolean {
    const { perSecond, burst, maxClients } = this.#options;
    const account = this.#accounts.get(client) ?? { left: burst, atMs: nowMs };
    const earned = ((nowMs - account.atMs) * perSecond) / MS_A_SECOND;
    account.left = Math.min(burst, account.left + earned);
    account.atMs = nowMs;
    this.#accounts.delete(client);
    this.#accounts.set(client, account);
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > maxClients && oldest !== undefined) this.#accounts.delete(oldest);
    if (account.left < 1) return false;
    account.left -= 1;
    return true;
  }
}
