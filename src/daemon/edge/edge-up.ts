import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { ManagerClient } from "../../brain/manager/client/manager-client.ts";
import type { ListenAddress } from "../../core/options/listen-address.ts";
import type { InstanceConfig } from "../config.ts";
import { type Instance, startInstance } from "../instance.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import { MANAGER_SOCKET } from "../manager/socket-name.ts";
import { makePrivateFolder } from "../private-files.ts";
import { type EdgeNode, startEdgeNode } from "./edge-node.ts";
import { membershipFolder, readMembership } from "./membership/kept-membership.ts";
import type { EdgeSettings } from "./resolve-settings.ts";

/** A manager and a node of its edge, in one process. */
export interface EdgeUp {
  readonly manager: Instance;
  readonly node: EdgeNode;
  /** The node first, so that it can say good-bye; workloads stay connected. */
  close(): Promise<void>;
}

const TOKEN_FILE = "edge-up.token";
const TOKEN_LIFETIME_MS = 60_000;
const OWNER_ONLY = 0o600;

const createdSchema = z.object({ token: z.string() });

/**
 * Starts the manager, and has a node of this machine join it; later starts find both again.
 * @throws CoreError what either of them does
 */
export async function startEdgeUp(
  config: InstanceConfig,
  settings: EdgeSettings,
  context: { readonly deps: InstanceDeps; readonly hostName: string },
): Promise<EdgeUp> {
  const { deps, hostName } = context;
  const { folder } = settings;
  await makePrivateFolder(folder);
  const manager = await startInstance(config, deps);
  try {
    await Promise.race([manager.up, manager.failed]);
    const address = reachable(config.values.apiListen);
    const isMember = (await readMembership(membershipFolder(folder))) !== undefined;
    const tokenFile = isMember ? undefined : await makeToken(folder);
    try {
      const join = { managers: [address], tokenFile };
      const node = await startEdgeNode(settings, { log: deps.log, hostName, join });
      const close = async (): Promise<void> => {
        await node.close();
        await manager.stop();
      };
      return { manager, node, close };
    } finally {
      if (tokenFile !== undefined) await rm(tokenFile, { force: true });
    }
  } catch (error) {
    await manager.stop();
    throw error;
  }
}

/** For this node, once: nobody else ever sees it. */
async function makeToken(folder: string): Promise<string> {
  const path = join(folder, MANAGER_SOCKET);
  const client = await ManagerClient.connect({ address: { kind: "unix", path } });
  try {
    const request = { lifetimeMs: TOKEN_LIFETIME_MS, uses: 1, note: "edge up" };
    const { token } = createdSchema.parse(await client.call("CreateToken", request));
    const file = join(folder, TOKEN_FILE);
    await rm(file, { force: true });
    await writeFile(file, token, { mode: OWNER_ONLY, flag: "wx" });
    return file;
  } finally {
    client.close();
  }
}

/** Where a manager that listens everywhere is reached from here. */
function reachable(address: ListenAddress): ListenAddress {
  if (address.kind !== "tcp") return address;
  const local = { "0.0.0.0": "127.0.0.1", "::": "::1" }[address.host];
  return local === undefined ? address : { ...address, host: local };
}
