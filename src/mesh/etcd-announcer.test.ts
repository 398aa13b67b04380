import { describe, expect, onTestFinished, test } from "vitest";
import { startEtcd } from "../../test/support/etcd.ts";
import { requires } from "../../test/support/requires.ts";
import { createEtcdAnnouncer } from "./etcd-announcer.ts";

const INSTANCE = {
  service: "default/shop",
  servicePort: "",
  zone: "z0",
  node: "n1",
  address: "10.0.0.1",
  port: 80,
  weight: 5,
};
const KEY = "/portolan/v1/objects/Endpoint/default/shop/10.0.0.1:80";

describe("an announcement in etcd", requires("etcd", "etcdctl"), () => {
  test.each([
    ["is withdrawn at the end", false, ""],
    ["that is left to another process is not", true, KEY],
  ] as const)(
    "%s",
    async (_, isLeft, rest) => {
      const etcd = await startEtcd();
      const announcer = createEtcdAnnouncer({
        ...etcd.options,
        where: "etcd",
        prefix: "/portolan/",
        maxObjectBytes: 1_000_000,
        ttlSeconds: 60,
      });
      onTestFinished(() => announcer.close());
      const end = new AbortController();
      let over: Promise<void> = Promise.resolve();
      await new Promise<void>((made) => {
        over = announcer.announce(INSTANCE, ({ isMade }) => isMade && made(), end.signal);
      });
      if (isLeft) announcer.leave();
      end.abort();
      await over;
      expect((await etcd.ctl("get", KEY, "--keys-only")).trim()).toBe(rest);
    },
    60_000,
  );
});
