import { expect, test } from "vitest";
import type { Node } from "../../core/model/node.ts";
import { parseKind } from "../../core/model/parse.ts";
import { checkPeers } from "../tunnel/check-peers.ts";
import { generateTunnelKey, publicTunnelKey } from "../tunnel/tunnel-keys.ts";
import { peersOfNodes } from "./peers-of-nodes.ts";

function node(name: string, subnet: string, publicKey: string, address = "192.0.2.9:50103"): Node {
  const tunnel = { address, publicKey };
  return parseKind("Node", { name, subnets: [subnet], tunnel });
}

const key = (): string => publicTunnelKey(generateTunnelKey());

test("nodes that can not be peers are left out, and the tunnel takes the others", () => {
  const own = node("own", "10.18.0.0/26", key());
  const found = peersOfNodes(
    [
      node("here", "10.18.0.0/26", key()),
      node("same-key", "10.18.0.64/26", own.tunnel?.publicKey ?? ""),
      node("no-key", "10.18.0.128/26", "c2hvcnQ="),
      node("good", "10.18.0.192/26", key()),
      own,
    ],
    { own: "own", families: ["v4", "v6"] },
  );
  expect(found.peers.map((peer) => peer.node)).toEqual(["good"]);
  expect(found.leftOut).toEqual([
    "here: 10.18.0.0/26 is the one of own as well",
    'no-key: its public key "c2hvcnQ=" is none',
    `same-key: ${own.tunnel?.publicKey} is the one of own as well`,
  ]);
  checkPeers(found.peers, { hasKey: true, isV6Socket: true, subnets: own.subnets });
});

test("a machine without IPv6 has all peers but the addresses that it can not call", () => {
  const found = peersOfNodes(
    [
      node("far", "10.18.0.64/26", key(), "[2001:db8::9]:50103"),
      node("far-plain", "10.18.0.128/26", "", "[2001:db8::8]:50103"),
      node("near", "10.18.0.192/26", key()),
    ],
    { own: "own", families: ["v4"], modes: ["secure", "fast"] },
  );
  expect(found.peers.map(({ node: name, endpoint }) => [name, endpoint?.ip])).toEqual([
    ["far", undefined],
    ["near", "192.0.2.9"],
  ]);
  const why = "can not be called from here, as this machine has no IPv6";
  expect(found.leftOut).toEqual([
    `far: its address 2001:db8::9 ${why}`,
    `far-plain: its address 2001:db8::8 ${why}`,
  ]);
  checkPeers(found.peers, { hasKey: true, isV6Socket: false, subnets: ["10.18.0.0/26"] });
});
