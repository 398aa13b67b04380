import { expect, test } from "vitest";
import { BearerToken } from "./bearer-token.ts";

const token = new BearerToken("s3cret.~+/=");

test.each(["Bearer s3cret.~+/=", "bearer s3cret.~+/=", "BEARER   s3cret.~+/= "])(
  "%j is right",
  (header) => {
    expect(token.isIn(header)).toBe(true);
  },
);

test.each([
  undefined,
  "",
  "Bearer",
  "Bearer ",
  "s3cret.~+/=",
  "Basic s3cret.~+/=",
  "Bearer s3cret",
  "Bearer s3cret.~+/=x",
  "Bearer s3cret.~+/= x",
  "Bearer s3cret.~+/=, Bearer s3cret.~+/=",
])("%j is not", (header) => {
  expect(token.isIn(header)).toBe(false);
});

test("a token that no header can hold is refused, and not shown", () => {
  for (const text of ["", "two words", "line\n", "pässword"]) {
    expect(() => new BearerToken(text)).toThrow("the token of the HTTP controller is not valid");
  }
});
