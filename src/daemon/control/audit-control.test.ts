import { expect, test } from "vitest";
import type { Caller } from "../../control/command.ts";
import type { Control } from "../../control/control.ts";
import { parseCommand } from "../../control/grammar/parse-command.ts";
import type { ResourceSpec } from "../../control/resource-spec.ts";
import { DONE } from "../../control/result.ts";
import { CoreError } from "../../core/errors.ts";
import { createLog } from "../instance.fixture.ts";
import { auditControl } from "./audit-control.ts";

const RESOURCE: ResourceSpec = {
  name: "upstream",
  shorts: [],
  summary: "",
  section: "module",
  isSystem: false,
  scopes: [
    {
      within: [[]],
      actions: {
        add: {
          help: "",
          params: [
            {
              kind: "text",
              name: "password",
              field: "password",
              help: "",
              placeholder: "P",
              secret: true,
            },
          ],
          examples: [],
        },
        list: { help: "", params: [], examples: [] },
        remove: { help: "", params: [], examples: [] },
      },
    },
  ],
};

const CALLER: Caller = { via: "resp", from: "127.0.0.1:5", maySystem: false };

function create(run: Control["run"]) {
  const { log, lines } = createLog();
  const control = auditControl(
    {
      resources: [RESOURCE],
      parse: (line) => parseCommand(line, [RESOURCE]),
      run,
      complete: () => [],
      revision: 7,
      onHealth: () => () => undefined,
    },
    log,
  );
  return { lines, control, give: (line: string) => control.run(control.parse(line), CALLER) };
}

test("a change leaves a line with who, from where and what came of it; secrets are hidden", async () => {
  const { give, lines, control } = create(async () => DONE);
  expect(control.revision).toBe(7);
  await give("add upstream u0 password abc");
  await give("System: save /tmp/file");
  expect(lines.map(({ level, fields }) => [level, fields])).toEqual([
    [
      "info",
      {
        audit: {
          via: "resp",
          from: "127.0.0.1:5",
          command: "add upstream u0 password (hidden)",
          result: "done",
        },
      },
    ],
    [
      "info",
      {
        audit: {
          via: "resp",
          from: "127.0.0.1:5",
          command: "System: save /tmp/file",
          result: "done",
        },
      },
    ],
  ]);
});

test("what was refused leaves a line as well, and who only asks leaves none", async () => {
  const { give, lines } = create(async () => {
    throw new CoreError("ERR_IN_USE", "lb0 uses it");
  });
  await expect(give("remove upstream u0")).rejects.toThrow("lb0 uses it");
  await expect(give("list upstream")).rejects.toThrow();
  await expect(give("man upstream")).rejects.toThrow();
  expect(lines).toMatchObject([
    {
      level: "warn",
      fields: {
        audit: { command: "remove upstream u0", result: "ERR_IN_USE", message: "lb0 uses it" },
      },
    },
  ]);
});
