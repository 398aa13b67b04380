import { expect, test } from "vitest";
import { hideSecrets, secretsOf } from "./hide-secrets.ts";

test.each([
  ['{"token":"s3cr3t \\" quote","a":1}', '{"token":"(hidden)","a":1}'],
  ["http-token: s3cr3t", "http-token: (hidden)"],
  ["PORTOLAN_RESP_PASSWORD=s3cr3t x", "PORTOLAN_RESP_PASSWORD=(hidden) x"],
  ["Authorization: Bearer abc.def-ghi", "Authorization: Bearer (hidden)"],
  ["https://me:s3cr3t@host/x", "https://me:(hidden)@host/x"],
  [
    "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nrest",
    "(hidden)\nrest",
  ],
  ['{"pem":"-----BEGIN PRIVATE KEY-----\\nMIIabc', '{"pem":"(hidden)'],
])("%j becomes %j", (text, expected) => {
  expect(hideSecrets(text)).toBe(expected);
});

test("what is no secret stays", () => {
  const text = '{"hasSecret":false,"keyFile":"/etc/key.pem","hash":"abc"}\ntokens: none here';
  expect(hideSecrets('{"secret":true}')).toBe('{"secret":true}');
  expect(hideSecrets(text)).toContain('"keyFile":"/etc/key.pem","hash":"abc"');
  expect(hideSecrets(text)).toContain('"hasSecret":false');
});

test("secrets of the environment are hidden wherever they stand", () => {
  const known = secretsOf({ PORTOLAN_HTTP_TOKEN: "hunter22", HOME: "/home/me", MY_TOKEN: "a" });
  expect(known).toEqual(["hunter22"]);
  expect(hideSecrets("it says hunter22 aloud", known)).toBe("it says (hidden) aloud");
});

test("a long text without spaces takes no time", () => {
  const text = "a-".repeat(500_000);
  expect(hideSecrets(text)).toBe(text);
});
