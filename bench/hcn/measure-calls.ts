import { createHcnBackend } from "../../src/backends/hcn/hcn-backend.ts";
import { HCN_OPTIONS } from "../../src/backends/hcn/options.ts";
import { endpointSchema } from "../../src/core/model/endpoint.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { serviceSchema } from "../../src/core/model/service.ts";
import { flagLayer, resolveOptions } from "../../src/core/options/resolve-options.ts";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import { FakeHcn } from "../../src/platform/windows/fake.ts";
import type { HcnCalls } from "../../src/platform/windows/hcn-calls.ts";
import { MeteredCalls } from "../../src/platform/windows/metered-calls.ts";

const SERVICES = 1000;
const ENDPOINTS = 10;
const NETWORK_NAME = "cbr0";
const NETWORK_ID = "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11";

/** One call that makes each object. */
export const MINIMAL: number = SERVICES * (ENDPOINTS + 1);

/** What a sync made of calls. */
export interface CallCount {
  readonly calls: number;
  /** Those among them that list all of a kind. */
  readonly enumerations: number;
  /** Functions of the DLL, with those that open and close handles; 0 where there is none. */
  readonly dllCalls: number;
}

export const SYNCS = ["first", "change", "again", "look"] as const;

/** A first sync, one endpoint's change, a sync without any change, and the look after each period. */
export type CallCounts = Readonly<Record<(typeof SYNCS)[number], CallCount>>;

const silent = (): void => undefined;

/**
 * Counts the calls that services with endpoints elsewhere take.
 * @param inner where a network of that name is, and nothing else
 */
export async function measureCalls(
  inner: HcnCalls,
  countDllCalls: () => number = () => 0,
): Promise<CallCounts> {
  const calls = new MeteredCalls(inner);
  const periods: (() => unknown)[] = [];
  const { values } = resolveOptions(HCN_OPTIONS, [flagLayer({ networkName: NETWORK_NAME })]);
  if (values === undefined) throw new Error("the options are not right");
  const backend = await createHcnBackend(
    values,
    {
      nodeName: "here",
      log: { debug: silent, info: silent, warn: silent, error: silent },
      stdout: process.stdout,
    },
    {
      openCalls: async () => calls,
      takeLock: async () => ({ release: async () => undefined }),
      macOf: () => undefined,
      clock: {
        nowMs: () => performance.now(),
        sleep: async () => undefined,
        every: (_, act) => {
          periods.push(act);
          return silent;
        },
      },
    },
  );
  const store = new GlobalStore();
  store.markSynced("bench");
  const watcher = new NodeWatcher(store, "here", ["nodes"]);
  const count = (): CallCount => ({ ...countOf(calls), dllCalls: countDllCalls() });
  const during = async (act: () => unknown): Promise<CallCount> => {
    const before = count();
    await act();
    return difference(count(), before);
  };
  const apply = (objects: readonly ModelObject[]) => async (): Promise<void> => {
    store.transact("bench", (transaction) => transaction.replaceAll(objects));
    for (const op of watcher.poll() ?? []) {
      if (op.op === "reset") backend.sink.reset();
      else await backend.sink.send(op);
    }
  };
  const objects = objectsOf();
  const counts = {
    first: await during(apply(objects)),
    change: await during(apply([...objects.slice(0, -1), pod(SERVICES - 1, 99)])),
    again: await during(() => backend.sink.send({ op: "sync" })),
    look: await during(() => periods[0]?.()),
  };
  await backend.close();
  return counts;
}

/** The same on the fake. */
export function measureFake(): Promise<CallCounts> {
  const fake = new FakeHcn();
  const ipams = [{ Subnets: [{ IpAddressPrefix: "10.0.0.0/8" }] }];
  const fields = { ID: NETWORK_ID, Name: NETWORK_NAME, Type: "L2Bridge", Ipams: ipams };
  fake.seed("Network", NETWORK_ID, JSON.stringify(fields));
  return measureCalls(fake);
}

function countOf(metered: MeteredCalls): Pick<CallCount, "calls" | "enumerations"> {
  let calls = 0;
  let enumerations = 0;
  for (const [name, { total }] of metered.counts()) {
    calls += total;
    if (name.startsWith("enumerate ")) enumerations += total;
  }
  return { calls, enumerations };
}

function difference(after: CallCount, before: CallCount): CallCount {
  return {
    calls: after.calls - before.calls,
    enumerations: after.enumerations - before.enumerations,
    dllCalls: after.dllCalls - before.dllCalls,
  };
}

function objectsOf(): readonly ModelObject[] {
  const objects: ModelObject[] = [];
  for (let service = 0; service < SERVICES; service += 1) {
    const clusterIPs = [`10.96.${service >> 8}.${service & 255}`];
    const ports = [{ port: 80, targetPort: 8080 }];
    objects.push(serviceSchema.parse({ kind: "Service", name: `s${service}`, clusterIPs, ports }));
    for (let number = 1; number <= ENDPOINTS; number += 1) objects.push(pod(service, number));
  }
  return objects;
}

function pod(service: number, number: number): ModelObject {
  return endpointSchema.parse({
    kind: "Endpoint",
    group: `s${service}`,
    name: `p${number}`,
    addresses: [`10.${100 + (service >> 8)}.${service & 255}.${number}`],
    node: "there",
  });
}
