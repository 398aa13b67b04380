import { describe } from "vitest";
import { runBackendContract } from "../../src/backends/backend.contract.ts";
import { requires } from "../support/requires.ts";
import { inShort, PLAIN, REDIRECTED } from "./userspace-subject.ts";

// Most of the others are played on loopback, all of them here by the long tests.
describe("in network namespaces", requires("linux", "root", "ip"), () => {
  runBackendContract(inShort(PLAIN));
});

describe("in network namespaces with --redirect", requires("linux", "root", "ip", "nft"), () => {
  runBackendContract(inShort(REDIRECTED));
});
