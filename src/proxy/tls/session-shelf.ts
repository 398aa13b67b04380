import type { OpenSslClientCalls } from "../../platform/linux/openssl/openssl-client-calls.ts";

/** A group has seldom more servers. */
const MAX_SESSIONS = 1024;

/** The last session with each server of a group, by which the next connection does without certificates. */
export class SessionShelf {
  readonly #client: Pick<OpenSslClientCalls, "sessionFree">;
  readonly #maxSessions: number;
  /** By the key of the server; the one that was put first is the first to go. */
  readonly #sessions = new Map<string, number>();
  #isClosed = false;

  constructor(client: Pick<OpenSslClientCalls, "sessionFree">, maxSessions: number = MAX_SESSIONS) {
    this.#client = client;
    this.#maxSessions = maxSessions;
  }

  /** It stays on the shelf; 0 where there is none. */
  find(server: string): number {
    return this.#sessions.get(server) ?? 0;
  }

  /** @param session belongs to the shelf from now on; 0: none */
  put(server: string, session: number): void {
    if (session === 0) return;
    if (this.#isClosed) {
      this.#client.sessionFree(session);
      return;
    }
    this.drop(server);
    this.#sessions.set(server, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > this.#maxSessions && oldest !== undefined) this.drop(oldest);
  }

  drop(server: string): void {
    const session = this.find(server);
    this.#sessions.delete(server);
    if (session !== 0) this.#client.sessionFree(session);
  }

  close(): void {
    this.#isClosed = true;
    for (const server of [...this.#sessions.keys()]) this.drop(server);
  }
}
