import { test } from "vitest";
import { requires } from "../support/requires.ts";
import { churn } from "./edge-churn.ts";

test(
  "50 deployments and undeployments leave nothing behind",
  requires("linux", "root", "ip", "nft"),
  () => churn(50),
);
