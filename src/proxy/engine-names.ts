/** What is remembered of a name that was asked for. */
export interface KnownName {
  /** Key of the listener that was asked for it; empty for the names of servers. */
  readonly listener: string;
  readonly name: string;
  /** None where it is known that there are none. */
  readonly addresses: readonly string[];
  /** When it is asked for again. */
  readonly expiresInMs: number;
}

/** The names that an engine knows the addresses of. */
export interface EngineNames {
  /** A name that several loops know is listed once. */
  list(): Promise<readonly KnownName[]>;
  /**
   * Has a name asked for again when it is needed; that of a server at once, which keeps its addresses until
   * then. False where it is not known.
   * @param listener as `KnownName` has it
   */
  forget(listener: string, name: string): Promise<boolean>;
}
