import { describe } from "vitest";
import { runBackendContract } from "../../src/backends/backend.contract.ts";
import { NFTABLES } from "../../src/backends/nftables/definition.ts";
import { requires } from "../support/requires.ts";
import { openNamespaces } from "./namespace-driver.ts";

describe("in network namespaces", requires("linux", "root", "ip", "nft"), () => {
  runBackendContract({
    backend: NFTABLES.name,
    capabilities: NFTABLES.capabilities,
    concurrency: 4,
    open: () => openNamespaces({ backend: NFTABLES.name }),
  });
});
