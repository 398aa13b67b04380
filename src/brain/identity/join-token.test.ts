import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createToken, parseToken, tokenRecordSchema, useToken } from "./join-token.ts";

const PIN = Buffer.alloc(32, 7).toString("base64url");
const NEW = { nowMs: 1000, lifetimeMs: 500, uses: -1, note: "for tests", pin: PIN, randomBytes };

test("a token says who made it, and what is kept of it does not hold the secret", () => {
  const { record, text } = createToken(NEW);
  const token = parseToken(`${text}\n`);
  expect(token).toMatchObject({ id: record.id, pin: PIN });
  expect(JSON.stringify(record)).not.toContain(token.secret);
  expect(tokenRecordSchema.parse(JSON.parse(JSON.stringify(record)))).toEqual(record);
  expect(useToken(token, record, 1499)).toEqual(record);
});

test("a token is good until it expires", () => {
  const { record, text } = createToken(NEW);
  expect(() => useToken(parseToken(text), record, 1500)).toThrow(
    "it expired at 1970-01-01T00:00:01",
  );
});

test("a token for two nodes is good twice", () => {
  const { record, text } = createToken({ ...NEW, uses: 2 });
  const token = parseToken(text);
  const once = useToken(token, record, 1000);
  const twice = useToken(token, once, 1000);
  expect(() => useToken(token, twice, 1000)).toThrow("it was used up");
});

test("a wrong secret, another token's and one that is gone are refused alike", () => {
  const { record, text } = createToken(NEW);
  const other = createToken(NEW);
  const right = parseToken(text);
  const wrong = { ...right, secret: parseToken(other.text).secret };
  const why = "it is not known here, or was revoked";
  expect(() => useToken(wrong, record, 1000)).toThrow(why);
  expect(() => useToken(right, other.record, 1000)).toThrow(why);
  expect(() => useToken(right, undefined, 1000)).toThrow(why);
  // Also where the id is guessed as the secret.
  expect(() => useToken({ ...right, secret: right.id }, undefined, 1000)).toThrow(why);
});

test.each(["", "pt1", "pt2.a.b.c", "pt1.00.x.y"])("%j is no token", (text) => {
  expect(() => parseToken(text)).toThrow("the join token is not whole");
});
