import { expect, test } from "vitest";
import { parseKind } from "../core/model/parse.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import { serversOfService } from "./servers-of-service.ts";

const FOLLOWING = {
  service: "default/shop",
  servicePort: "",
  zone: "",
  serverGroup: "default/g0",
};

function endpoint(name: string, more: Record<string, unknown> = {}) {
  return parseKind("Endpoint", {
    name,
    group: "shop",
    addresses: ["10.0.0.1"],
    ports: [{ port: 80 }],
    ...more,
  });
}

function names(
  objects: readonly ReturnType<typeof parseKind>[],
  following: Partial<typeof FOLLOWING> = {},
): readonly string[] {
  const store = new GlobalStore();
  store.transact("test", (transaction) => transaction.replaceAll(objects));
  return serversOfService(store.state(), { ...FOLLOWING, ...following }).map(({ name }) => name);
}

test("instances become servers by their addresses, with weight and port", () => {
  const store = new GlobalStore();
  store.transact("test", (transaction) =>
    transaction.set(
      endpoint("a", { weight: 7, labels: { a: "b" }, ports: [{ name: "x", port: 81 }] }),
    ),
  );
  expect(serversOfService(store.state(), FOLLOWING)).toEqual([
    parseKind("Endpoint", {
      name: "shop@10.0.0.1:81",
      group: "g0",
      addresses: ["10.0.0.1"],
      ports: [{ port: 81 }],
      weight: 7,
    }),
  ]);
});

test("those that are not ready, or about to go, are none", () => {
  const objects = [
    endpoint("a"),
    endpoint("b", { addresses: ["10.0.0.2"], ready: false }),
    endpoint("c", { addresses: ["10.0.0.3"], terminating: true }),
    endpoint("d", { addresses: ["fd00::4"] }),
    endpoint("e", { addresses: [], hostName: "/run/app.sock", ports: [] }),
  ];
  expect(names(objects)).toEqual(["shop@10.0.0.1:80", "shop@[fd00::4]:80"]);
});

test("a zone is that of the instance, or else that of its node", () => {
  const objects = [
    parseKind("Node", { name: "n1", zone: "z1" }),
    endpoint("a", { zone: "z1" }),
    endpoint("b", { addresses: ["10.0.0.2"], node: "n1" }),
    endpoint("c", { addresses: ["10.0.0.3"], node: "n1", zone: "z2" }),
    endpoint("d", { addresses: ["10.0.0.4"] }),
  ];
  expect(names(objects, { zone: "z1" })).toEqual(["shop@10.0.0.1:80", "shop@10.0.0.2:80"]);
  expect(names(objects)).toHaveLength(4);
});

test("of several ports the one that is asked for, also where only the service says it", () => {
  const service = parseKind("Service", {
    name: "shop",
    ports: [
      { name: "http", port: 80, targetPort: 8080 },
      { name: "admin", port: 81, targetPort: 8081 },
    ],
  });
  const objects = [
    service,
    endpoint("a", { ports: [] }),
    endpoint("b", { addresses: ["10.0.0.2"], ports: [{ name: "admin", port: 9 }] }),
    endpoint("c", {
      addresses: ["10.0.0.3"],
      ports: [
        { name: "http", port: 1 },
        { name: "admin", port: 2 },
      ],
    }),
  ];
  expect(names(objects, { servicePort: "admin" })).toEqual([
    "shop@10.0.0.1:8081",
    "shop@10.0.0.2:9",
    "shop@10.0.0.3:2",
  ]);
  expect(names(objects)).toEqual(["shop@10.0.0.2:9"]);
});

test("the groups of a service are followed, but never the one that is kept", () => {
  const objects = [
    parseKind("Service", {
      name: "shop",
      ports: [{ port: 80, targetPort: 80 }],
      groups: [{ group: "default/blue" }, { group: "default/g0" }],
    }),
    parseKind("Group", { name: "blue" }),
    parseKind("Group", { name: "g0" }),
    endpoint("a", { group: "blue" }),
    endpoint("b", { group: "g0", addresses: ["10.0.0.2"] }),
    endpoint("c", { addresses: ["10.0.0.3"] }),
  ];
  expect(names(objects)).toEqual(["shop@10.0.0.1:80"]);
});
