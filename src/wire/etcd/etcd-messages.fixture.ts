import { readFileSync } from "node:fs";
import protobuf from "protobufjs";

/** The messages as etcd's own files have them, read and written by a program that is not ours. */
const root = new protobuf.Root();
const file = new URL("./etcd.fixture.proto", import.meta.url);
protobuf.parse(readFileSync(file, "utf8"), root, { keepCase: true });
root.resolveAll();

export type EtcdMessage = Readonly<Record<string, unknown>>;

export function encodeEtcd(type: string, message: EtcdMessage): Buffer {
  const known = root.lookupType(type);
  return Buffer.from(known.encode(known.fromObject(message)).finish());
}

/** Numbers of 64 bits as text, bytes as text, only what was there. */
export function decodeEtcd(type: string, bytes: Buffer): EtcdMessage {
  const known = root.lookupType(type);
  const plain: EtcdMessage = known.toObject(known.decode(bytes), {
    longs: String,
    enums: String,
    bytes: String,
  });
  return plain;
}

/** As messages with bytes have it in JSON. */
export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
