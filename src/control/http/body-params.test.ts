import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { formatPath } from "../../core/model/problems.ts";
import type { ParamSpec } from "../resource-spec.ts";
import { errorByFields, readBodyParams } from "./body-params.ts";

const SPECS: readonly ParamSpec[] = [
  { kind: "address", name: "address", field: "address", help: "where", required: true },
  { kind: "integer", name: "in-buffer-size", field: "inBufferSize", help: "size", min: 1, max: 9 },
  { kind: "list", name: "cert-key", field: "listOfCertKey", help: "which", placeholder: "NAME" },
  { kind: "strings", name: "annotations", field: "annotations", help: "notes" },
  { kind: "flag", name: "falls-back", field: "fallsBack", help: "whether" },
];

function problemsOf(body: unknown, action: "add" | "update", pathName = ""): readonly string[] {
  try {
    readBodyParams(body, SPECS, action, pathName);
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    expect(error.code).toBe("ERR_USAGE");
    return error.problems.map(({ path, fault }) => `${formatPath(path)} ${fault}`).sort();
  }
  return [];
}

test("values keep their types, under the names of parameters", () => {
  const body = {
    name: "lb0",
    address: "127.0.0.1:80",
    inBufferSize: 5,
    listOfCertKey: ["c0", "c1"],
    annotations: { a: "b" },
    fallsBack: false,
  };
  const { name, params } = readBodyParams(body, SPECS, "add", "");
  expect(name).toBe("lb0");
  expect(Object.fromEntries(params)).toEqual({
    address: "127.0.0.1:80",
    "in-buffer-size": 5,
    "cert-key": ["c0", "c1"],
    annotations: { a: "b" },
    "falls-back": false,
  });
});

test("all that is wrong is told at once, by fields", () => {
  const body = {
    inBufferSize: 100,
    listOfCertKey: [["c0"]],
    annotations: null,
    "in-buffer-size": 5,
    __proto__x: 1,
  };
  expect(problemsOf(body, "add")).toEqual([
    "__proto__x unknown key",
    "address missing",
    "annotations invalid",
    "in-buffer-size unknown key",
    "inBufferSize invalid",
    "listOfCertKey invalid",
    "name missing",
  ]);
});

test("a body must be an object", () => {
  for (const body of [undefined, null, 1, "text", [], [{}]]) {
    expect(problemsOf(body, "add")).toHaveLength(1);
  }
});

test("an update has the name of its path", () => {
  expect(readBodyParams({ inBufferSize: 2 }, SPECS, "update", "lb0").name).toBe("lb0");
  expect(readBodyParams({ name: "lb0" }, SPECS, "update", "lb0").name).toBe("lb0");
  expect(problemsOf({ name: "lb1" }, "update", "lb0")).toEqual(["name invalid"]);
});

test("keys that objects have by themselves are fields like others", () => {
  const body: unknown = JSON.parse(
    '{"name":"x","address":"1.1.1.1:1","__proto__":{"a":"b"},"constructor":"c"}',
  );
  expect(problemsOf(body, "add")).toEqual(["__proto__ unknown key", "constructor unknown key"]);
});

test("what a command finds later is told by fields, too", () => {
  const problem = {
    path: ["in-buffer-size"],
    fault: "invalid",
    value: "1",
    expected: "2",
  } as const;
  const error = errorByFields(
    new CoreError("ERR_STATE_INVALID", "no", { problems: [problem] }),
    SPECS,
  );
  expect(error).toMatchObject({
    code: "ERR_STATE_INVALID",
    problems: [{ path: ["inBufferSize"] }],
  });
  const other = new Error("other");
  expect(errorByFields(other, SPECS)).toBe(other);
});
