import fc from "fast-check";
import { expect, test } from "vitest";
import { parseKind } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { AddressBook } from "./address-book.ts";
import { type AddressPlan, DEFAULT_ADDRESS_PLAN } from "./address-plan.ts";

const SMALL: AddressPlan = {
  nodes: ["10.18.0.0/25", "fc00::/118"],
  nodePrefix: { v4: 26, v6: 120 },
  services: {
    "round-robin": ["10.30.0.0/29"],
    closest: ["10.30.0.0/29"],
    instance: ["10.30.0.0/29", "fdff::/126"],
  },
  reserved: [],
};

function bookOf(store: GlobalStore, plan = SMALL): AddressBook {
  const book = new AddressBook(plan);
  book.follow(store);
  return book;
}

const node = (name: string, subnets: readonly string[]) => parseKind("Node", { name, subnets });

test("a node gets a network of each family, with the sizes that the REST API of nodes takes", () => {
  const reservation = bookOf(new GlobalStore(), DEFAULT_ADDRESS_PLAN).reserve();
  expect(reservation.subnets()).toEqual(["10.18.0.0/26", "fc00::/120"]);
});

test("each policy has its range, and the ends of a range are nobody's", () => {
  const reservation = bookOf(new GlobalStore(), DEFAULT_ADDRESS_PLAN).reserve();
  expect(reservation.serviceAddresses("round-robin")).toEqual(["10.30.0.1", "fdff:2000::1"]);
  expect(reservation.serviceAddresses("closest")).toEqual(["10.30.0.2", "fdff:1000::1"]);
  expect(reservation.serviceAddresses("instance")).toEqual(["10.30.0.3", "fdff::1"]);
});

test("what nodes keep for themselves at the end of a range is never given, also when all else is", () => {
  const book = bookOf(new GlobalStore());
  const reservation = book.reserve();
  const given = Array.from({ length: 5 }, () => reservation.serviceAddresses("closest")[0]);
  expect(given).toEqual(["10.30.0.1", "10.30.0.2", "10.30.0.3", "10.30.0.4", "10.30.0.5"]);
  expect(() => reservation.serviceAddresses("closest")).toThrow("no service address of policy");
  expect(book.isClaimed("10.30.0.6")).toBe(true);
});

test("the same at the end of a range of IPv6", () => {
  const book = bookOf(new GlobalStore());
  const reservation = book.reserve();
  const given = [1, 2].map(() => reservation.serviceAddresses("instance")[1]);
  expect(given).toEqual(["fdff::1", "fdff::2"]);
  expect(() => reservation.serviceAddresses("instance")).toThrow("left in fdff::/126");
  expect(book.isClaimed("fdff::3")).toBe(true);
});

test("no network of a node holds the address of the tunnel device", () => {
  const book = bookOf(new GlobalStore(), { ...DEFAULT_ADDRESS_PLAN, nodes: ["10.19.1.0/24"] });
  const reservation = book.reserve();
  const given = [reservation.subnets(), reservation.subnets(), reservation.subnets()].flat();
  expect(given).toEqual(["10.19.1.0/26", "10.19.1.64/26", "10.19.1.128/26"]);
  expect(() => reservation.subnets()).toThrow(
    "there is no network for a node left in 10.19.1.0/24; expected a wider range",
  );
});

test("what is not written is free again, what is written is not", () => {
  const store = new GlobalStore();
  const book = bookOf(store);
  const first = book.reserve();
  const subnets = first.subnets();
  store.transact("manager", (tx) => tx.set(node("a", subnets)));
  first.release();
  const second = book.reserve();
  expect(second.subnets()).toEqual(["10.18.0.64/26", "fc00::100/120"]);
  expect(() => second.subnets()).toThrow("no network for a node left in 10.18.0.0/25");
  second.release();
  expect(book.reserve().subnets()[0]).toBe("10.18.0.64/26");
});

test("what goes from the state is given again", () => {
  const store = new GlobalStore();
  const book = bookOf(store);
  store.transact("manager", (tx) => {
    tx.set(node("a", ["10.18.0.0/26"]));
    tx.set(node("b", ["10.18.0.64/26"]));
  });
  expect(() => book.reserve().subnets()).toThrow("left in");
  store.transact("manager", (tx) => tx.delete("Node", "a"));
  expect(book.reserve().subnets()[0]).toBe("10.18.0.0/26");
});

test("what other sources say is never given", () => {
  const store = new GlobalStore();
  store.transact("kube", (tx) => {
    tx.set(parseKind("Service", { name: "web", clusterIPs: ["10.30.0.1"] }));
    tx.set(parseKind("Endpoint", { name: "x", group: "web", addresses: ["10.18.0.3"] }));
  });
  const reservation = bookOf(store).reserve();
  expect(reservation.serviceAddresses("closest")).toEqual(["10.30.0.2"]);
  expect(reservation.subnets()[0]).toBe("10.18.0.64/26");
});

test("ranges of nodes and services must not overlap", () => {
  expect(() => new AddressBook({ ...SMALL, nodes: ["10.30.0.0/16"] })).toThrow(
    "the range 10.30.0.0/16 of nodes and 10.30.0.0/29 of services overlap",
  );
});

/** A node joins where it is not there yet, and is refused where all networks are given. */
function join(store: GlobalStore, book: AddressBook, name: string): void {
  if (store.get("Node", name) !== undefined) return;
  const reservation = book.reserve();
  if (store.state().nodes.size === 4) expect(() => reservation.subnets()).toThrow("left");
  else {
    const subnets = reservation.subnets();
    store.transact("m", (tx) => tx.set(node(name, subnets)));
  }
  reservation.release();
}

test("property: over any order of joins, leaves and restarts no two nodes share a network", () => {
  const name = fc.nat({ max: 5 }).map((id) => `n${id}`);
  const step = fc.record({ kind: fc.constantFrom("join", "leave", "restart"), name });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const store = new GlobalStore();
      const plan = { ...SMALL, nodes: ["10.18.0.0/24"] };
      let book = bookOf(store, plan);
      for (const each of steps) {
        if (each.kind === "restart") book = bookOf(store, plan);
        else if (each.kind === "leave") store.transact("m", (tx) => tx.delete("Node", each.name));
        else join(store, book, each.name);
        const all = [...store.state().nodes.values()].flatMap(({ subnets }) => subnets);
        expect(new Set(all).size).toBe(all.length);
      }
    }),
  );
});
