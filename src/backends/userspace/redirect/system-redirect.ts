import type { Log } from "../../../core/log.ts";
import { systemExec } from "../../../platform/linux/exec.ts";
import { createNft } from "../../../platform/linux/nft/nft.ts";
import { openNftGeneration } from "../../../platform/linux/nft/nft-generation.ts";
import { Redirect } from "./redirect.ts";
import { RedirectRules } from "./redirect-rules.ts";

/** So long what others changed may stay. */
const CHECK_MS = 30_000;

/** In the kernel of this network namespace. @throws CoreError ERR_SYSTEM_CALL */
export function openSystemRedirect(log: Log): Redirect {
  const generation = openNftGeneration();
  return new Redirect({
    rules: new RedirectRules({ nft: createNft(systemExec), generation, log }),
    every: (work) => {
      const timer = setInterval(work, CHECK_MS).unref();
      return { stop: () => clearInterval(timer) };
    },
    release: () => generation.close(),
    log,
  });
}
