import { expect, test } from "vitest";
import { parseKind } from "../../../core/model/parse.ts";
import type { Op } from "../../../core/view/ops.ts";
import { RemoteState } from "./remote-state.ts";

const SERVICE = parseKind("Service", {
  name: "web",
  edgeIPs: [{ address: "10.30.0.1" }],
  ports: [{ name: "http", port: 80 }],
});

const WEB: Op = {
  ...{ op: "set", set: "services", path: "default/web" },
  value: { key: "default/web", service: SERVICE, usable: [] },
};

function listener(name: string, address: string, more: object = {}): Op {
  const value = parseKind("Listener", {
    name,
    address,
    port: 8080,
    service: "default/web",
    ...more,
  });
  return { op: "set", set: "listeners", path: `default/${name}`, value };
}

test("why a listener of this node lets nobody in is told, in the same order, until it does", () => {
  const state = new RemoteState("own", ["v4", "v6"]);
  const good = listener("good", "192.0.2.1");
  state.apply([
    WEB,
    listener("six", "2001:db8::1"),
    good,
    listener("http", "192.0.2.1", { mode: "http" }),
    listener("elsewhere", "2001:db8::1", { node: "other" }),
  ]);
  expect(state.view().ingress).toHaveLength(1);
  expect(state.notServed).toEqual([
    "Listener default/http: only plain TCP and UDP lead into the overlay",
    "Listener default/six: its service has no edge address of IPv6",
  ]);
  state.apply([
    { op: "delete", set: "listeners", path: "default/http" },
    listener("six", "192.0.2.6"),
  ]);
  expect(state.view().ingress).toHaveLength(2);
  expect(state.notServed).toEqual([]);
});
