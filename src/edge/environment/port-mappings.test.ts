import { expect, test } from "vitest";
import { parsePortMappings } from "./port-mappings.ts";

test.each([
  ["", []],
  ["80", [{ protocol: "tcp", hostPort: 80, port: 80 }]],
  ["8080:80", [{ protocol: "tcp", hostPort: 8080, port: 80 }]],
  [
    "8080:80/tcp; 53/udp;",
    [
      { protocol: "tcp", hostPort: 8080, port: 80 },
      { protocol: "udp", hostPort: 53, port: 53 },
    ],
  ],
  [
    "53/udp;53/tcp",
    [
      { protocol: "udp", hostPort: 53, port: 53 },
      { protocol: "tcp", hostPort: 53, port: 53 },
    ],
  ],
])("reads %j", (text, mappings) => {
  expect(parsePortMappings(text)).toEqual({ ok: true, mappings });
});

test.each(["x", "0", "65536", "80:", "80:0", "80/sctp", "80:90:100", "1.2.3.4:80:80", "80,81"])(
  "refuses %j",
  (text) => {
    expect(parsePortMappings(text)).toEqual({
      ok: false,
      expected: 'HOST[:CONTAINER][/tcp|/udp], separated by ";"',
    });
  },
);

test("refuses a port that stands twice", () => {
  expect(parsePortMappings("80;80:81/tcp")).toEqual({
    ok: false,
    expected: "each port once, not 80/tcp twice",
  });
});
