import { expect, test } from "vitest";
import { sampleEndpoint } from "../../test/support/samples.ts";
import { leftOut } from "./left-out.ts";

const at = (hostName: string, addresses: readonly string[] = []) => ({
  path: "default/web/a",
  service: "default/web",
  group: "default/web",
  endpoint: sampleEndpoint({ group: "web", name: "a", addresses, hostName }),
  local: false,
  ports: [],
});

test("each kind of endpoint without an address is told once", () => {
  expect(leftOut([at("", ["10.0.0.1"]), at("db.example", ["10.0.0.2"])])).toEqual([]);
  expect(leftOut([at("/run/a.sock"), at("db.example"), at("/run/b.sock")])).toEqual([
    "endpoints that have only a host name are left out",
    "endpoints on unix sockets need a proxy, and are left out",
  ]);
});
