import { describeGuest } from "./describe-guest.ts";

await describeGuest("over time in a kernel with IPVS", ["over-time.ts"], { timeoutSeconds: 600 });

await describeGuest("all scenarios in a kernel with IPVS", ["contract.ts"], {
  timeoutSeconds: 1800,
  environment: { PORTOLAN_IPVS_SCENARIOS: "all" },
});
