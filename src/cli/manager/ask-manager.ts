import { dirname, join } from "node:path";
import { ManagerClient } from "../../brain/manager/client/manager-client.ts";
import { CoreError } from "../../core/errors.ts";
import { MANAGER_SOCKET } from "../../daemon/manager/socket-name.ts";
import { INSTANCE_OPTIONS } from "../../daemon/options.ts";
import { instancePath } from "../../daemon/presence.ts";
import type { CommandInput } from "../command-spec.ts";
import { resolveFlags } from "../flags.ts";

const { state } = INSTANCE_OPTIONS;

/** Asks the manager that runs in the state folder. @throws CoreError ERR_INSTANCE where none does */
export async function askManager(
  input: CommandInput,
  method: string,
  request: object,
): Promise<unknown> {
  const folder = dirname(instancePath(resolveFlags({ state }, input).state));
  const path = join(folder, MANAGER_SOCKET);
  const client = await ManagerClient.connect({ address: { kind: "unix", path } }).catch(
    (cause: unknown) => {
      throw new CoreError(
        "ERR_INSTANCE",
        `no manager runs in ${folder}; expected one, or --state with its folder`,
        { cause },
      );
    },
  );
  try {
    return await client.call(method, request);
  } finally {
    client.close();
  }
}
