import { expect, test } from "vitest";
import {
  parseEngineCommand,
  parseEngineReport,
  parseProgramData,
  parseSocketId,
} from "./parse-engine-message.ts";

const STRANGE: readonly unknown[] = [undefined, null, 1, {}, { kind: 1 }, { kind: "toString" }];

test("what an engine and its loops say passes as it is", () => {
  const command = { kind: "checks", isOn: true };
  const report = { kind: "changed", request: 1, problems: [] };
  const data = { index: 3 };
  expect(parseEngineCommand(command)).toBe(command);
  expect(parseEngineReport(report)).toBe(report);
  expect(parseProgramData(data)).toBe(data);
  expect(parseSocketId("web")).toBe("web");
});

test.each([parseEngineCommand, parseEngineReport, parseProgramData, parseSocketId])(
  "%o refuses everything else",
  (parse) => {
    for (const body of STRANGE) {
      expect(() => parse(body)).toThrow(expect.objectContaining({ code: "ERR_REFUSED" }));
    }
  },
);
