import { expect, test } from "vitest";
import { HEADER_BYTES } from "../netlink-words.ts";
import { NetlinkWriter } from "../netlink-writer.ts";
import { parseWay, writeWayQuestion } from "./route-question.ts";

function question(source: number): string {
  const writer = new NetlinkWriter();
  writeWayQuestion(writer, 1, 0x0808_0808, source);
  return Buffer.from(writer.written().subarray(HEADER_BYTES)).toString("hex");
}

test("the way is asked for as ip asks, from an address where one is given", () => {
  expect(question(0)).toBe("0220000000000000000000000800010008080808");
  expect(question(0xc000_0202)).toBe(
    "0220200000000000000000000800010008080808080002 00c0000202".replace(" ", ""),
  );
});

/** What the kernel answers for 8.8.8.8 via 192.0.2.1 dev 4 src 192.0.2.2, with another type where one is given. */
function answer(type: string): ReturnType<typeof parseWay> {
  const text = `0220 0000 fe 00 00 ${type} 00000000 08000f00fe000000 0800010008080808 0800040004000000 08000700c0000202 08000500c0000201`;
  const bytes = Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
  return parseWay(new DataView(bytes.buffer), 0, bytes.length);
}

test("a way has a link and what is sent from; to this machine or nowhere there is none", () => {
  expect(answer("01")).toEqual({ link: 4, source: 0xc000_0202 });
  expect([answer("02"), answer("07")]).toEqual([undefined, undefined]);
});
