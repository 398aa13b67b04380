import { describeGuest } from "./describe-guest.ts";

const FILES = ["platform-facts.ts", "ipvs.ts", "contract.ts"];

await describeGuest("in a kernel with IPVS", FILES, { timeoutSeconds: 900 });
