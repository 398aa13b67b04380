import { generate } from "selfsigned";
import { expect, test } from "vitest";
import { certificateNames } from "./certificate-names.ts";

async function certificate(commonName: string, names: readonly string[], keyType: "ec" | "rsa") {
  const altNames = [
    ...names.map((value) => ({ type: 2, value }) as const),
    { type: 7, ip: "192.0.2.1" } as const,
  ];
  const { cert } = await generate([{ name: "commonName", value: commonName }], {
    keyType,
    extensions: names.length === 0 ? [] : [{ name: "subjectAltName", altNames }],
  });
  return cert;
}

test("alternative names count, in lower case; addresses are none", async () => {
  const pem = await certificate("cn.example", ["A.example", "*.b.example"], "ec");
  expect(certificateNames(pem)).toEqual({ names: ["a.example", "*.b.example"], keyType: "ec" });
});

test("the common name counts only where there are none", async () => {
  const pem = await certificate("CN.example", [], "rsa");
  expect(certificateNames(pem)).toEqual({ names: ["cn.example"], keyType: "rsa" });
});

test("of a chain the first is it", async () => {
  const chain = [await certificate("a", ["a"], "ec"), await certificate("b", ["b"], "rsa")];
  expect(certificateNames(chain.join("\n")).names).toEqual(["a"]);
});

test("what is no certificate throws", () => {
  expect(() => certificateNames("none")).toThrow();
});
