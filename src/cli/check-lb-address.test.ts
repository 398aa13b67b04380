import { expect, test } from "vitest";
import { parseListenAddress } from "../core/options/listen-address.ts";
import { checkLbAddress } from "./check-lb-address.ts";

const OWN = new Set(["127.0.0.1", "192.0.2.1", "2001:db8::1"]);

test.each([
  "8080",
  "127.0.0.5:80",
  "0.0.0.0:80",
  "[::]:80",
  "192.0.2.1:80",
  "[2001:DB8::1]:80",
  "unix:/run/lb.sock",
])("%s can be listened on", (text) => {
  expect(() => checkLbAddress(parseListenAddress(text), OWN)).not.toThrow();
});

test.each(["192.0.2.2:80", "[2001:db8::2]:80"])("%s is refused with those that can be", (text) => {
  const refusal = expect.objectContaining({
    code: "ERR_LISTEN",
    message: `--listen: can not listen on ${text}: this machine does not have the address; expected one of 0.0.0.0, ::, 127.0.0.1, 192.0.2.1, 2001:db8::1`,
  });
  expect(() => checkLbAddress(parseListenAddress(text), OWN)).toThrow(refusal);
});
