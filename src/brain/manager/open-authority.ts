import { CoreError } from "../../core/errors.ts";
import { Authority, authorityKeysSchema, createAuthority } from "../identity/authority.ts";
import type { Ledger } from "./ledger.ts";

const NAME = "authority";

/** The authority that the ledger keeps; a new one where it keeps none. @throws CoreError ERR_STATE_INVALID */
export async function openAuthority(
  ledger: Ledger,
  trustDomain: string,
  nowMs: number,
): Promise<Authority> {
  if (ledger.secret(NAME) === undefined) {
    const keys = JSON.stringify(await createAuthority(trustDomain, nowMs));
    await ledger.change(() => ({
      // Another manager may have been quicker.
      change: ledger.secret(NAME) === undefined ? { secrets: new Map([[NAME, keys]]) } : {},
      result: undefined,
    }));
  }
  const parsed = authorityKeysSchema.safeParse(JSON.parse(ledger.secret(NAME) ?? "null"));
  if (!parsed.success) {
    throw new CoreError("ERR_STATE_INVALID", "the authority that was kept is not understood");
  }
  return Authority.open(parsed.data);
}
