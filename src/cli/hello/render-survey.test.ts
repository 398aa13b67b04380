import { expect, test } from "vitest";
import { NO_PAINT } from "../text/paint.ts";
import { renderSurvey } from "./render-survey.ts";
import type { Survey } from "./survey.ts";

const SURVEY: Survey = {
  providers: [{ name: "node", summary: "sockets", findings: [] }],
  backends: [
    {
      name: "nftables",
      summary: "maps",
      findings: [{ severity: "missing", what: "no nft", remedy: "apt-get install nftables" }],
    },
    {
      name: "userspace",
      summary: "a proxy",
      findings: [{ severity: "degraded", what: "slow", remedy: "use Linux" }],
    },
  ],
  kernel: [],
  auto: "userspace",
};

test("what does not work stands with what would help, and sections without anything are left out", () => {
  expect(renderSurvey(SURVEY, NO_PAINT)).toEqual([
    "Event loops",
    "  node  works       sockets",
    "",
    "Data planes",
    "  nftables   does not    maps",
    "             - no nft: apt-get install nftables",
    "  userspace  works, but  a proxy",
    "             - slow: use Linux",
    "",
    "--to auto chooses userspace here.",
  ]);
});

test("a machine on which nothing works is told", () => {
  const lines = renderSurvey({ ...SURVEY, auto: undefined }, NO_PAINT);
  expect(lines.at(-1)).toBe("No data plane works here.");
});
