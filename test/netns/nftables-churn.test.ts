import { describe } from "vitest";
import { requires } from "../support/requires.ts";
import { describeChurn } from "./nftables-churn.ts";

describe("nftables", requires("linux", "root", "ip", "nft"), () => describeChurn(10_000));
