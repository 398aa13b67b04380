import { describe, expect, test } from "vitest";
import { startEtcd } from "../support/etcd.ts";
import { requires } from "../support/requires.ts";
import { managerPlace, TestNode, web, words } from "./manager-fixture.ts";

const SLOW = 90_000;

describe("managers that share an etcd", requires("etcd", "etcdctl"), () => {
  test(
    "give nothing twice, and one goes on where another is killed",
    async () => {
      const etcd = await startEtcd();
      const args = ["--manager-etcd", etcd.addresses, "--node-timeout", "4s"];
      const [one, two] = [await managerPlace(), await managerPlace()];
      const [first] = await Promise.all([one.start(args), two.start(args)]);
      const token = await one.ask("token", "create");

      // At the same time, at both.
      const nodes = Array.from({ length: 6 }, (_, index) => new TestNode(`n${index}`));
      const terms = await Promise.all(
        nodes.map((node, index) => node.join(index % 2 === 0 ? one : two, token)),
      );
      const subnets = terms.flatMap((each) => each.subnets);
      expect(new Set(subnets).size).toBe(12);

      // Who has joined has three times as long for its first renewal, at whichever manager.
      const leaseOf = async (node: string): Promise<string> => {
        const key = `/portolan/v1/manager/alive/${node}`;
        const found = await etcd.ctl("get", key, "--write-out", "json");
        const id = BigInt(/"lease":(\d+)/.exec(found)?.[1] ?? "0");
        return etcd.ctl("lease", "timetolive", id.toString(16));
      };
      expect(await leaseOf("n4")).toContain("TTL(9s)");
      await nodes[4]?.call(two, "Renew", {});
      expect(await leaseOf("n4")).toContain("TTL(3s)");

      const [a, b] = nodes;
      if (a === undefined || b === undefined) throw new Error("six nodes");
      const stop = await a.keepAlive(two, 500);
      await b.keepAlive(two, 500);
      await a.call(one, "Deploy", web(0, "10.18.0.2"));
      const watcher = b.follow(two, ["default/web"]);
      expect(words(await watcher.next())).toContain("set default/web/web-0");
      await first.stop("SIGKILL");
      const coming = watcher.next();
      await b.call(two, "Deploy", web(1, "10.18.0.66"));
      expect(words(await coming)).toContain("set default/web/web-1");

      // It dies by its lease, which the other manager renewed last.
      stop();
      expect(words(await watcher.next())).toEqual(["delete default/web/web-0", "sync"]);

      // The one that was killed comes back with what happened meanwhile.
      await one.start(args);
      const json: unknown = JSON.parse(await one.ask("table", "web", "--json"));
      expect(json).toMatchObject({ services: [{ instances: [{ instance: 1, node: "n1" }] }] });
      expect(await a.call(one, "Renew", {})).toMatchObject({ subnets: terms[0]?.subnets });
      expect(words(await watcher.next())).toContain("set default/web/web-0");
      expect(await etcd.ctl("get", "--prefix", "/portolan/v1/manager/")).not.toContain(
        token.split(".")[2],
      );
    },
    SLOW,
  );
});
