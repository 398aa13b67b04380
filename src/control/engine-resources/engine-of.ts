import { CoreError } from "../../core/errors.ts";
import type { EnginePort } from "../engine-port.ts";
import type { ControlWorld } from "../world.ts";

/** @throws CoreError ERR_NOT_POSSIBLE_HERE where no engine runs in this process */
export function engineOf({ engine }: Pick<ControlWorld, "engine">): EnginePort {
  if (engine !== undefined) return engine;
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    "this instance has no event loops: its data plane is not in this process; start it with --to userspace",
  );
}
