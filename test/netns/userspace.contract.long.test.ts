import { describe } from "vitest";
import { runBackendContract } from "../../src/backends/backend.contract.ts";
import { requires } from "../support/requires.ts";
import { PLAIN, REDIRECTED } from "./userspace-subject.ts";

describe("in network namespaces", requires("linux", "root", "ip"), () => {
  runBackendContract(PLAIN);
});

describe("in network namespaces with --redirect", requires("linux", "root", "ip", "nft"), () => {
  runBackendContract(REDIRECTED);
});
