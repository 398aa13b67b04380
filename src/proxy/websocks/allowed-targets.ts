import { judgeTarget, type TargetRule } from "../../core/model/target-rules.ts";
import type { AccessWord } from "../../core/model/websocks.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { Socks5Address } from "../../wire/socks5/socks5-words.ts";
import type { DialTarget, DialTargets } from "../relay/dial-targets.ts";

/** Whatever a name leads to is judged by its address too: names change what they lead to. */
export class AllowedTargets implements DialTargets {
  readonly #targets: DialTargets;
  readonly #rules: readonly TargetRule<AccessWord>[];
  readonly #wanted: Socks5Address;
  #hasRefused = false;

  constructor(
    targets: DialTargets,
    rules: readonly TargetRule<AccessWord>[],
    wanted: Socks5Address,
  ) {
    this.#targets = targets;
    this.#rules = rules;
    this.#wanted = wanted;
  }

  get noneResult(): number {
    return this.#hasRefused ? -ERRNO.EACCES : this.#targets.noneResult;
  }

  next(): DialTarget | undefined {
    for (;;) {
      const target = this.#targets.next();
      if (target === undefined || this.#isAllowed(target)) return target;
      this.#hasRefused = true;
    }
  }

  #isAllowed({ address }: DialTarget): boolean {
    if (address.family === "unix") return true;
    const { host, isName, port } = this.#wanted;
    const target = { name: isName ? host : "", ip: address.ip, port };
    return judgeTarget(this.#rules, target, "allow") === "allow";
  }
}
