import { expect, test } from "vitest";
import { formatSocketAddress, parseSocketAddress } from "./socket-address.ts";

test.each(["10.0.0.1:80", "[fd00::1]:443", "unix:/run/web.sock", "unix:@web", "0.0.0.0:0"])(
  "%s is read and written the same",
  (text) => {
    expect(formatSocketAddress(parseSocketAddress(text))).toBe(text);
  },
);

test.each(["", "web:80", "10.0.0.1", "10.0.0.1:70000", "fd00::1:80", "[10.0.0.1]:80", "unix:"])(
  '"%s" is refused with what would be right',
  (text) => {
    expect(() => parseSocketAddress(text)).toThrow(/write IP:PORT, \[IPV6\]:PORT, unix:PATH/);
  },
);
