import { describeLiveRules } from "./live-rules-subjects.ts";

const NUM_RUNS = 100;

describeLiveRules(NUM_RUNS);
