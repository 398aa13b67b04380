import type { Buffer } from "node:buffer";
import { CoreError } from "../../core/errors.ts";
import type { Authority } from "../identity/authority.ts";
import {
  createToken,
  type JoinToken,
  type TokenRecord,
  tokenRecordSchema,
  useToken,
} from "../identity/join-token.ts";
import type { Ledger } from "./ledger.ts";
import type { CreateTokenRequest, RevokeTokenRequest } from "./messages.ts";

export interface JoinTokensOptions {
  readonly ledger: Ledger;
  readonly authority: Authority;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Buffer;
}

/** What people may know of a token. */
export type ListedToken = Omit<TokenRecord, "hash">;

const PREFIX = "tokens/";
/** So many at a time are more than anybody looks after. */
const MAX_TOKENS = 1000;

/** The tokens that nodes join with; of each only what the ledger keeps. */
export class JoinTokens {
  readonly #options: JoinTokensOptions;

  constructor(options: JoinTokensOptions) {
    this.#options = options;
  }

  /** @returns the token, which nobody is told again */
  create(request: CreateTokenRequest): Promise<{ readonly id: string; readonly token: string }> {
    const { ledger, authority, nowMs, randomBytes } = this.#options;
    const now = nowMs();
    const { record, text } = createToken({
      ...request,
      nowMs: now,
      pin: authority.pin,
      randomBytes,
    });
    return ledger.change(() => {
      const kept = this.#records();
      const secrets = new Map<string, string | undefined>();
      for (const { id, expiresMs } of kept)
        if (expiresMs <= now) secrets.set(nameOf(id), undefined);
      if (kept.length - secrets.size >= MAX_TOKENS) {
        throw new CoreError(
          "ERR_EXHAUSTED",
          `there are ${MAX_TOKENS} join tokens already; expected some to be revoked first`,
        );
      }
      secrets.set(nameOf(record.id), JSON.stringify(record));
      return { change: { secrets }, result: { id: record.id, token: text } };
    });
  }

  /** The newest last. */
  list(): readonly ListedToken[] {
    const listed = this.#records().map(({ hash: _, ...rest }) => rest);
    return listed.sort((a, b) => a.createdMs - b.createdMs);
  }

  /** @throws CoreError ERR_NOT_FOUND */
  revoke({ id }: RevokeTokenRequest): Promise<object> {
    const { ledger } = this.#options;
    return ledger.change(() => {
      if (ledger.secret(nameOf(id)) === undefined) {
        throw new CoreError(
          "ERR_NOT_FOUND",
          `there is no join token ${id}; expected one of the list`,
        );
      }
      return { change: { secrets: new Map([[nameOf(id), undefined]]) }, result: {} };
    });
  }

  /**
   * What is kept of a token once it was used; empty where that is the same as before.
   * @throws CoreError ERR_UNAUTHORIZED
   */
  use(token: JoinToken): ReadonlyMap<string, string | undefined> {
    const { ledger, nowMs } = this.#options;
    const text = ledger.secret(nameOf(token.id));
    const before = text === undefined ? undefined : readRecord(text);
    const after = useToken(token, before, nowMs());
    return after === before ? new Map() : new Map([[nameOf(token.id), JSON.stringify(after)]]);
  }

  /**
   * Whether it is good for the identity of a service, as often as it is shown.
   * @throws CoreError ERR_UNAUTHORIZED
   */
  assertFor(token: JoinToken, service: string): void {
    const { ledger, nowMs } = this.#options;
    const text = ledger.secret(nameOf(token.id));
    useToken(token, text === undefined ? undefined : readRecord(text), nowMs(), service);
  }

  #records(): readonly TokenRecord[] {
    const { ledger } = this.#options;
    return [...ledger.secrets()].flatMap(([name, text]) =>
      name.startsWith(PREFIX) ? (readRecord(text) ?? []) : [],
    );
  }
}

function nameOf(id: string): string {
  return `${PREFIX}${id}`;
}

function readRecord(text: string): TokenRecord | undefined {
  const parsed = tokenRecordSchema.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : undefined;
}
