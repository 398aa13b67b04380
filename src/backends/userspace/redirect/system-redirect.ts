import { systemExec } from "../../../platform/linux/exec.ts";
import { takeInstanceLock } from "../../../platform/linux/instance-lock.ts";
import { createNft } from "../../../platform/linux/nft/nft.ts";
import { openNftGeneration } from "../../../platform/linux/nft/nft-generation.ts";
import { type OpenRedirectOptions, Redirect } from "./redirect.ts";
import { RedirectLock } from "./redirect-lock.ts";
import { RedirectRules } from "./redirect-rules.ts";

/** So long what others changed may stay. */
const CHECK_MS = 30_000;
/** So long after one has left, at most, its successor holds the lock. */
const LOCK_RETRY_MS = 500;
const LOCK_NAME = "userspace --redirect";

/**
 * In the kernel of this network namespace.
 * @throws CoreError ERR_SYSTEM_CALL, or ERR_NOT_POSSIBLE_HERE where another instance redirects
 */
export function openSystemRedirect({ log, takesOver }: OpenRedirectOptions): Redirect {
  const lock = new RedirectLock({
    take: () => {
      const taken = takeInstanceLock(LOCK_NAME);
      if (takesOver) log.info({ backend: "userspace" }, "the redirect is this process's now");
      return taken;
    },
    canWait: takesOver,
    every: (work) => repeat(work, LOCK_RETRY_MS),
  });
  try {
    const generation = openNftGeneration();
    return new Redirect({
      rules: new RedirectRules({ nft: createNft(systemExec), generation, log }),
      lock,
      every: (work) => repeat(work, CHECK_MS),
      release: () => generation.close(),
      log,
    });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Does not keep the process from ending. */
function repeat(work: () => void, everyMs: number): { stop(): void } {
  const timer = setInterval(work, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}
