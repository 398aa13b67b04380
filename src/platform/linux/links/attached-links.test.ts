import { expect, test } from "vitest";
import { CoreError } from "../../../core/errors.ts";
import { AttachedLinks } from "./attached-links.ts";
import type { PlainLink } from "./ethernet-links.ts";

const ETH0 = { link: 2, name: "eth0", mtu: 1500 };
const ETH1 = { link: 3, name: "eth1", mtu: 1500 };

/** Links as a test says them; `done` has what was done to them since it was last looked at. */
function world(...wanted: readonly PlainLink[]) {
  const state = {
    wanted,
    shared: new Set<string>(),
    refusing: new Set<string>(),
    /** What a look at the links waits for. */
    seen: Promise.resolve(),
  };
  /** Numbers of links. */
  const attached = new Set<number>();
  const done: string[] = [];
  const told: object[] = [];
  const tell = (fields: object): void => void told.push(fields);
  const links = new AttachedLinks({
    wanted: async () => {
      await state.seen;
      return state.wanted;
    },
    attach: ({ link, name, mtu }) => {
      if (state.refusing.has(name)) throw new CoreError("ERR_SYSTEM_CALL", "no room");
      attached.add(link);
      done.push(`attach ${name} ${mtu}`);
      return () => {
        attached.delete(link);
        done.push(`detach ${name} ${mtu}`);
      };
    },
    programsAt: ({ link, name }) => {
      if (state.shared.has(name)) return "shared";
      return attached.has(link) ? "ours" : "none";
    },
    log: { debug: tell, info: tell, warn: tell, error: tell },
  });
  const review = async (...now: readonly PlainLink[]): Promise<readonly string[]> => {
    state.wanted = now;
    await links.review();
    return done.splice(0);
  };
  return { state, attached, done, told, links, review };
}

test("links that come are attached once, and those that go are detached", async () => {
  const { links, review } = world();
  expect(await review(ETH0)).toEqual(["attach eth0 1500"]);
  expect(await review(ETH0, ETH1)).toEqual(["attach eth1 1500"]);
  expect(links.size).toBe(2);
  expect(await review(ETH0, ETH1)).toEqual([]);
  expect(await review(ETH1)).toEqual(["detach eth0 1500"]);
  expect(links.size).toBe(1);
});

test("programs that are gone from a link are attached again, and that is told", async () => {
  const { attached, told, review } = world();
  await review(ETH0);
  attached.clear();
  expect(await review(ETH0)).toEqual(["detach eth0 1500", "attach eth0 1500"]);
  expect(told).toEqual([{ link: "eth0" }]);
  expect(await review(ETH0)).toEqual([]);
});

test.each([
  ["whose MTU changed", { ...ETH0, mtu: 9000 }],
  ["that has the number of one that is gone", { ...ETH0, name: "eth7" }],
])("a link %s is attached anew", async (_, now) => {
  const { review } = world();
  await review(ETH0);
  expect(await review(now)).toEqual(["detach eth0 1500", `attach ${now.name} ${now.mtu}`]);
  expect(await review(now)).toEqual([]);
});

test("a link is left to programs of others for as long as there are any", async () => {
  const { state, told, review } = world();
  await review(ETH0);
  state.shared = new Set(["eth0", "eth1"]);
  expect(await review(ETH0, ETH1)).toEqual(["detach eth0 1500"]);
  expect(await review(ETH0, ETH1)).toEqual([]);
  state.shared = new Set(["eth1"]);
  expect(await review(ETH0, ETH1)).toEqual(["attach eth0 1500"]);
  expect(told).toEqual([]);
});

test("one that can not be attached is told once and tried again; others are attached", async () => {
  const { state, told, links, review } = world();
  state.refusing.add("eth0");
  expect(await review(ETH0, ETH1)).toEqual(["attach eth1 1500"]);
  expect(await review(ETH0, ETH1)).toEqual([]);
  expect(told).toEqual([{ link: "eth0", reason: "no room" }]);
  expect(links.size).toBe(1);
  state.refusing.clear();
  expect(await review(ETH0, ETH1)).toEqual(["attach eth0 1500"]);
});

test("it is told again where it was attached in between, was gone, or is another one", async () => {
  const { state, told, review } = world();
  const refuse = async (link: PlainLink): Promise<void> => {
    state.refusing = new Set([link.name]);
    await review({ ...link, mtu: link.mtu + told.length });
    state.refusing.clear();
  };
  await refuse(ETH0);
  await review(ETH0);
  await refuse(ETH0);
  await review();
  await refuse(ETH0);
  await refuse({ ...ETH0, name: "eth7" });
  expect(told).toHaveLength(4);
});

test("where the links can not be listed, all stays as it is, and the next review works", async () => {
  const { state, done, links, review } = world();
  await review(ETH0);
  state.seen = Promise.reject(new CoreError("ERR_SYSTEM_CALL", "no answer"));
  await expect(links.review()).rejects.toThrow("no answer");
  expect(done).toEqual([]);
  state.seen = Promise.resolve();
  expect(await review()).toEqual(["detach eth0 1500"]);
});

test("reviews at the same time attach once", async () => {
  const { done, links } = world(ETH0);
  await Promise.all([links.review(), links.review()]);
  expect(done).toEqual(["attach eth0 1500"]);
});

test("nothing is attached once it is closed, also not by reviews under way and later ones", async () => {
  const { state, done, links, review } = world();
  await review(ETH0);
  let see = (): void => undefined;
  state.seen = new Promise<void>((resolve) => {
    see = resolve;
  });
  const underWay = review(ETH0, ETH1);
  const waiting = links.review();
  // The first one is asking for the links by then.
  await Promise.resolve();
  await links.close();
  expect(done).toEqual(["detach eth0 1500"]);
  see();
  await Promise.all([underWay, waiting, links.review()]);
  await links.close();
  expect(await underWay).toEqual(["detach eth0 1500"]);
  expect(done).toEqual([]);
  expect(links.size).toBe(0);
});
