import { CoreError } from "../../core/errors.ts";
import { FAMILIES } from "../../core/model/address.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import { createFullStateSink, type FullState } from "../../core/sinks/fullstate.ts";
import type { Op } from "../../core/view/ops.ts";
import { remoteEndpoint, renderEndpoint } from "../../platform/windows/endpoint.ts";
import { FakeHcn } from "../../platform/windows/fake.ts";
import { Hcn } from "../../platform/windows/hcn.ts";
import type { HcnCalls, HcnKind } from "../../platform/windows/hcn-calls.ts";
import { NO_DNS, SCHEMA_VERSION } from "../../platform/windows/hcn-json.ts";
import { NEWEST_HNS } from "../../platform/windows/hns-features.ts";
import { renderNetwork } from "../../platform/windows/network.ts";
import type { BackendContext, Preview } from "../backend.ts";
import { HCN_SETS } from "./hcn-backend.ts";
import { HcnSync } from "./hcn-sync.ts";
import type { HCN_OPTIONS } from "./options.ts";
import { localIpsOf } from "./plan/add-service-objects.ts";
import { settingsOf } from "./settings.ts";
import type { HcnWorld } from "./world.ts";

const ASSUMED_NAME = "portolan";
const ASSUMED_ID = "00000000-0000-4000-8000-000000000001";
const ALL_ADDRESSES = { v4: "0.0.0.0/0", v6: "::/0" } as const;

/**
 * The calls of a first sync with their JSON. On Windows HNS is read, and the rest happens to a copy of it
 * in memory; elsewhere, or without a network, one is assumed that holds every address.
 * @throws CoreError ERR_CONFIG_INVALID
 */
export async function previewHcn(
  options: ValuesOf<typeof HCN_OPTIONS>,
  { nodeName, log }: BackendContext,
  ops: readonly Op[],
  world: Pick<HcnWorld, "openCalls" | "macOf">,
): Promise<Preview> {
  const { networkName } = options;
  const settings = settingsOf(options, networkName ?? ASSUMED_NAME);
  const copy =
    networkName === undefined
      ? { unread: "no --network-name was given" }
      : await copyHns(world, networkName);
  const isAssumed = "unread" in copy;
  const fake = isAssumed ? assumedHns(settings.networkName) : copy;
  const lines: string[] = [];
  const sync = new HcnSync({
    hcn: new Hcn(recorded(fake, lines)),
    settings,
    nodeName,
    macOf: world.macOf,
    log,
  });
  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName, sets: HCN_SETS }),
    apply: async (state, changed) => {
      if (isAssumed) seedLocals(fake, state);
      await sync.apply(state, changed);
    },
  });
  for (const op of ops) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
  const script = lines.map((line) => `${line}\n`).join("");
  return isAssumed ? { script, unread: copy.unread } : { script };
}

/** All of HNS in memory, or why it can not be read. */
async function copyHns(
  world: Pick<HcnWorld, "openCalls">,
  networkName: string,
): Promise<FakeHcn | { readonly unread: string }> {
  let calls: HcnCalls | undefined;
  try {
    calls = await world.openCalls();
    const hcn = new Hcn(calls);
    const fake = new FakeHcn(await hcn.version());
    const network = await hcn.findNetwork(networkName);
    if (network === undefined) return { unread: `there is no HCN network "${networkName}"` };
    fake.seed("Network", network.id, renderNetwork(network));
    const query = JSON.stringify({ SchemaVersion: SCHEMA_VERSION, Flags: 0 });
    const copy = async (kind: HcnKind, ids: readonly string[]): Promise<void> => {
      for (const id of ids) fake.seed(kind, id, await (calls?.query(kind, id, query) ?? "{}"));
    };
    await copy("Endpoint", await hcn.endpointIds());
    await copy("LoadBalancer", await hcn.loadBalancerIds());
    return fake;
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    return { unread: error.message };
  } finally {
    await calls?.close();
  }
}

function assumedHns(name: string): FakeHcn {
  const fake = new FakeHcn(NEWEST_HNS);
  const subnets = FAMILIES.map((family) => ({
    prefix: ALL_ADDRESSES[family],
    policies: [],
    routes: [],
    flags: 0,
  }));
  fake.seed(
    "Network",
    ASSUMED_ID,
    renderNetwork({
      id: ASSUMED_ID,
      name,
      type: "L2Bridge",
      ipams: [{ type: "Static", subnets }],
      remoteSubnets: [],
      otherPolicies: [],
      macRanges: [],
      dns: NO_DNS,
      flags: 0,
    }),
  );
  return fake;
}

/** The CNI plugin makes them before workloads start. */
function seedLocals(fake: FakeHcn, { services }: FullState): void {
  const ips = [...services.values()].flatMap((entry) => [...localIpsOf(entry)]);
  for (const [index, address] of [...new Set(ips)].sort().entries()) {
    const id = `00000000-0000-4000-9000-${String(index + 1).padStart(12, "0")}`;
    const fields = { id, name: address, networkId: ASSUMED_ID, macAddress: "" };
    const endpoint = remoteEndpoint({ ...fields, addresses: [{ address, prefixLength: 0 }] });
    fake.seed("Endpoint", id, renderEndpoint({ ...endpoint, isRemote: false }));
  }
}

/** The same calls; those that change something are also written down. */
function recorded(inner: FakeHcn, lines: string[]): HcnCalls {
  return {
    version: () => inner.version(),
    enumerate: (...call) => inner.enumerate(...call),
    query: (...call) => inner.query(...call),
    create: async (kind, id, settings, networkId) => {
      await inner.create(kind, id, settings, networkId);
      lines.push(`HcnCreate${kind} ${id} ${settings}`);
    },
    modify: async (kind, id, settings) => {
      await inner.modify(kind, id, settings);
      lines.push(`HcnModify${kind} ${id} ${settings}`);
    },
    delete: async (kind, id) => {
      await inner.delete(kind, id);
      lines.push(`HcnDelete${kind} ${id}`);
    },
    watch: (onNotice) => inner.watch(onNotice),
    close: () => inner.close(),
  };
}
