import { describeGuest } from "./describe-guest.ts";

// Starting the built program takes long there.
await describeGuest("as its operator sees it in a kernel with IPVS", ["operator.ts"], {
  timeoutSeconds: 600,
});

const HARDSHIPS = ["others.ts", "dry-run.ts", "hardship.ts"];
await describeGuest("beside others and in hardship", HARDSHIPS, { timeoutSeconds: 600 });

await describeGuest("over time in a kernel with IPVS", ["over-time.ts"], { timeoutSeconds: 600 });

await describeGuest("all scenarios in a kernel with IPVS", ["contract.ts"], {
  timeoutSeconds: 1800,
  environment: { PORTOLAN_IPVS_SCENARIOS: "all" },
});
