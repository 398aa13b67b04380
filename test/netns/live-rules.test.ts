import { describeLiveRules } from "./live-rules-subjects.ts";

const NUM_RUNS = 8;

describeLiveRules(NUM_RUNS);
