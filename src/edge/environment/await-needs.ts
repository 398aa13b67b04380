import { invalid, problemsError } from "../../core/model/problems.ts";
import type { RouteTable } from "./route-table.ts";

/** Waits until the services that a deployment needs are known. @throws CoreError ERR_NOT_FOUND with their places */
export async function awaitNeeds(
  needs: readonly string[],
  table: Pick<RouteTable, "ensure">,
  timeoutMs: number,
): Promise<void> {
  if (needs.length === 0) return;
  const missing = new Set(await table.ensure(needs, AbortSignal.timeout(timeoutMs)));
  if (missing.size === 0) return;
  const problems = needs.flatMap((need, index) =>
    missing.has(need) ? [invalid(["needs", index], need, "a service that runs somewhere")] : [],
  );
  throw problemsError("ERR_NOT_FOUND", problems);
}
