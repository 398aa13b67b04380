import { expect, test } from "vitest";
import type { Node } from "../../core/model/node.ts";
import { parseKind } from "../../core/model/parse.ts";
import { checkPeers } from "../tunnel/check-peers.ts";
import { generateTunnelKey, publicTunnelKey } from "../tunnel/tunnel-keys.ts";
import { peersOfNodes } from "./peers-of-nodes.ts";

function node(name: string, subnet: string, publicKey: string): Node {
  const tunnel = { address: "192.0.2.9:50103", publicKey };
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
    "own",
  );
  expect(found.peers.map((peer) => peer.node)).toEqual(["good"]);
  expect(found.leftOut).toEqual([
    "here: 10.18.0.0/26 is the one of own as well",
    'no-key: its public key "c2hvcnQ=" is none',
    `same-key: ${own.tunnel?.publicKey} is the one of own as well`,
  ]);
  checkPeers(found.peers, { hasKey: true, isV6Socket: true, subnets: own.subnets });
});
