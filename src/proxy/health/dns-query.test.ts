import { expect, test } from "vitest";
import { eachBeginning } from "../../../test/support/each-split.ts";
import { readDnsAnswer, renderDnsQuery } from "./dns-query.ts";

test("asks for the address of a name, and of the root", () => {
  expect(renderDnsQuery(0x1234, "a.example.").toString("hex")).toBe(
    "12340100000100000000000001610765" + "78616d706c650000010001",
  );
  expect(renderDnsQuery(1, ".").toString("hex")).toBe("00010100000100000000000000" + "00010001");
});

test("reads code and number of answers, of answers to its own question only", () => {
  const answer = Buffer.from("123481830001000200000000", "hex");
  expect(readDnsAnswer(0x1234, answer)).toEqual({ rcode: 3, answers: 2 });
  expect(readDnsAnswer(0x4321, answer)).toBeUndefined();
  expect(readDnsAnswer(0x1234, renderDnsQuery(0x1234, "."))).toBeUndefined();
  for (const part of eachBeginning(answer)) expect(readDnsAnswer(0x1234, part)).toBeUndefined();
});
