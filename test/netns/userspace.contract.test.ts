import { describe } from "vitest";
import { runBackendContract } from "../../src/backends/backend.contract.ts";
import { USERSPACE } from "../../src/backends/userspace/definition.ts";
import { representatives } from "../support/representatives.ts";
import { requires } from "../support/requires.ts";
import { PLAIN, REDIRECTED } from "./userspace-subject.ts";

describe("in network namespaces", requires("linux", "root", "ip"), () => {
  // Most of the others are played on loopback, all of them here by the long tests.
  const scenarios = representatives(PLAIN.scenarios, USERSPACE.name);
  runBackendContract({ ...PLAIN, scenarios });
});

describe("in network namespaces with --redirect", requires("linux", "root", "ip", "nft"), () => {
  runBackendContract(REDIRECTED);
});
