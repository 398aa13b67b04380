import { describeGuest } from "./describe-guest.ts";

await describeGuest("all scenarios in a kernel with IPVS", ["contract.ts"], {
  timeoutSeconds: 1800,
  environment: { PORTOLAN_IPVS_SCENARIOS: "all" },
});
