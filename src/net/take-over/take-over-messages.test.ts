import { expect, test } from "vitest";
import { decodeOffer, encodeOffer, encodeText, splitOffers } from "./take-over-messages.ts";

test("listeners are split so that no message has too many descriptors", () => {
  const listeners = [
    { id: "a", sockets: 2 },
    { id: "b", sockets: 4 },
    { id: "c", sockets: 1 },
  ];
  expect(splitOffers(listeners, 3)).toEqual([
    {
      listeners: [
        { id: "a", sockets: 2 },
        { id: "b", sockets: 1 },
      ],
      isLast: false,
    },
    { listeners: [{ id: "b", sockets: 3 }], isLast: false },
    { listeners: [{ id: "c", sockets: 1 }], isLast: true },
  ]);
});

test("no listeners are one message that says so", () => {
  expect(splitOffers([], 3)).toEqual([{ listeners: [], isLast: true }]);
});

test("an offer comes back as it was", () => {
  const offer = { listeners: [{ id: "web", sockets: 2 }], isLast: true };
  expect(decodeOffer(encodeOffer(offer))).toEqual(offer);
});

test.each(["", "hello", "{}", '{"isLast":true,"listeners":[{"id":1,"sockets":1}]}'])(
  "%s is refused with what was sent",
  (text) => {
    expect(() => decodeOffer(encodeText(text))).toThrow("no list of listeners");
  },
);
