import { describe, expect, onTestFinished, test } from "vitest";
import { type EtcdCluster, startEtcd } from "../../../test/support/etcd.ts";
import { requires } from "../../../test/support/requires.ts";
import { parseKind } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import type { AnnounceRequest } from "./announced-instance.ts";
import { EtcdAnnouncements } from "./etcd-announcements.ts";

const SLOW = 60_000;
const PREFIX = "/portolan/";
const KEYS = `${PREFIX}v1/manager/announced/`;
const silent = (): void => undefined;
const LOG = { debug: silent, info: silent, warn: silent, error: silent };

function requestOf(more: Partial<AnnounceRequest> = {}): AnnounceRequest {
  return {
    id: "announcer-1",
    service: "default/shop",
    servicePort: "",
    zone: "z0",
    node: "n1",
    address: "10.0.0.1",
    port: 80,
    weight: 10,
    ttlMs: 60_000,
    ...more,
  };
}

/** As one of several managers has them. */
async function managerOf(etcd: EtcdCluster) {
  const store = new GlobalStore();
  const announcements = await EtcdAnnouncements.open(etcd.client(), PREFIX, { store, log: LOG });
  onTestFinished(() => announcements.close());
  const names = (): readonly string[] =>
    (store.state().groups.get("default/shop")?.endpoints ?? []).map(({ name }) => name);
  /** Once they are these. */
  const become = async (...expected: readonly string[]): Promise<void> => {
    while (names().join() !== expected.join()) await store.changed();
  };
  return { store, announcements, names, become };
}

describe("announcements to managers that share an etcd", requires("etcd", "etcdctl"), () => {
  test(
    "are known to all of them, also to one that starts later, until they are withdrawn at any",
    async () => {
      const etcd = await startEtcd();
      const [one, two] = [await managerOf(etcd), await managerOf(etcd)];
      await one.announcements.announce(requestOf());
      expect(one.names()).toEqual(["10.0.0.1:80"]);
      await two.become("10.0.0.1:80");
      await two.announcements.announce(requestOf({ address: "10.0.0.2" }));
      await one.become("10.0.0.1:80", "10.0.0.2:80");
      const three = await managerOf(etcd);
      expect(three.names()).toEqual(["10.0.0.1:80", "10.0.0.2:80"]);

      const { service, address, port } = requestOf();
      const place = { service, address, port };
      expect(await two.announcements.withdraw({ id: "somebody-else", ...place })).toBe(false);
      expect(await two.announcements.withdraw({ id: "announcer-1", ...place })).toBe(true);
      expect(two.names()).toEqual(["10.0.0.2:80"]);
      await one.become("10.0.0.2:80");
      expect(await one.announcements.withdraw({ id: "announcer-1", ...place })).toBe(false);
    },
    SLOW,
  );

  test(
    "go with their lease, which whichever manager they are said to renews",
    async () => {
      const etcd = await startEtcd();
      const [one, two] = [await managerOf(etcd), await managerOf(etcd)];
      const leases = async (): Promise<readonly string[]> =>
        (await etcd.ctl("lease", "list")).trim().split("\n").slice(1);
      await one.announcements.announce(requestOf());
      await two.become("10.0.0.1:80");
      const before = await leases();
      await two.announcements.announce(requestOf());
      expect(await leases()).toEqual(before);
      // Somebody else at the same place has a lease of its own.
      await two.announcements.announce(requestOf({ id: "announcer-2" }));
      expect(await leases()).toHaveLength(2);
      await etcd.ctl("lease", "revoke", before[0] ?? "");
      expect(two.names()).toEqual(["10.0.0.1:80"]);
      await one.announcements.announce(requestOf({ address: "10.0.0.2", ttlMs: 1000 }));
      await two.become("10.0.0.1:80", "10.0.0.2:80");
      await two.become("10.0.0.1:80");
    },
    SLOW,
  );

  test(
    "take no place of another source, and what is none is left out",
    async () => {
      const etcd = await startEtcd();
      const { store, announcements, become } = await managerOf(etcd);
      store.transact("file", (tx) =>
        tx.set(
          parseKind("Endpoint", { name: "10.0.0.1:80", group: "shop", addresses: ["10.0.0.1"] }),
        ),
      );
      await expect(announcements.announce(requestOf())).rejects.toMatchObject({
        code: "ERR_KEY_TAKEN",
      });
      await etcd.ctl("put", `${KEYS}default/shop/10.0.0.9:80`, "{}");
      await etcd.ctl("put", `${KEYS}default/shop/10.0.0.8:80`, JSON.stringify(requestOf()));
      await announcements.announce(requestOf({ address: "10.0.0.2" }));
      await become("10.0.0.1:80", "10.0.0.2:80");
    },
    SLOW,
  );
});
