import { expect, test } from "vitest";
import { ipAddress } from "../../platform/socket-address.ts";
import { checkPeers } from "./check-peers.ts";
import type { PeerSpec } from "./peer.ts";

const OWN = { hasKey: false, isV6Socket: false, subnets: ["10.18.0.0/26"] };

function peer(node: string, host: number, subnet: string): PeerSpec {
  const endpoint = ipAddress(`192.0.2.${host}`, 1);
  return { node, endpoint, subnets: [subnet], modes: ["fast"] };
}

test("peers that nothing could tell apart are refused", () => {
  const b = peer("b", 1, "10.18.1.0/26");
  expect(() => checkPeers([b, peer("c", 2, "10.18.2.0/26")], OWN)).not.toThrow();
  expect(() => checkPeers([b, peer("c", 2, "10.18.1.0/26")], OWN)).toThrow(
    "network 10.18.1.0/26: somebody else has it already",
  );
  expect(() => checkPeers([b, peer("c", 1, "10.18.2.0/26")], OWN)).toThrow(
    "peer c: address 192.0.2.1:1 is the one of another peer",
  );
});

test("a peer with a network of this node is refused", () => {
  expect(() => checkPeers([peer("b", 1, "10.18.0.0/26")], OWN)).toThrow(
    "network 10.18.0.0/26: somebody else has it already",
  );
});
