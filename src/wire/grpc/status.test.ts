import { expect, test } from "vitest";
import { decodeGrpcMessage, encodeGrpcMessage } from "./status.ts";

test("messages outside of printable ASCII are percent-encoded", () => {
  expect(encodeGrpcMessage('50% "größer"\n')).toBe('50%25 "gr%C3%B6%C3%9Fer"%0A');
  expect(decodeGrpcMessage(encodeGrpcMessage('50% "größer"\n'))).toBe('50% "größer"\n');
});

test("what others encoded badly is shown as it is", () => {
  expect(decodeGrpcMessage("100% sure %zz")).toBe("100% sure %zz");
});
