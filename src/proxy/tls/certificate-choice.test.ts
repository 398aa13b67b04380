import { expect, test } from "vitest";
import { CertificateChoice } from "./certificate-choice.ts";

const rsa = (...names: readonly string[]) => ({ names, keyType: "rsa" });
const ec = (...names: readonly string[]) => ({ names, keyType: "ec" });

const chosen = (choice: CertificateChoice, name: string) => choice.choices[choice.numberFor(name)];

test.each([
  ["a.example", [1]],
  ["b.example", [2]],
  ["deep.b.example", [0]],
  ["other.test", [0]],
  ["example", [0]],
  ["", [0]],
])("%j is served by certificate %j", (name, expected) => {
  const choice = new CertificateChoice([rsa("first.test"), rsa("a.example"), rsa("*.example")]);
  expect(chosen(choice, name)).toEqual(expected);
});

test("the first is for clients that name no host, also where it has no name itself", () => {
  expect(chosen(new CertificateChoice([rsa(), rsa("a.example")]), "")).toEqual([0]);
});

test("of two for one name the first counts, unless they differ in the type of their keys", () => {
  const choice = new CertificateChoice([rsa("a"), rsa("a"), ec("a", "b"), ec("a")]);
  expect(chosen(choice, "a")).toEqual([0, 2]);
  expect(chosen(choice, "b")).toEqual([2]);
  expect(chosen(choice, "")).toEqual([0, 2]);
  expect(choice.choices).toHaveLength(2);
});
