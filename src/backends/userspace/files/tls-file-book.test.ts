import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "selfsigned";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { certificateSchema } from "../../../core/model/certificate.ts";
import { listenerSchema } from "../../../core/model/listener.ts";
import { keyOf } from "../../../core/model/object.ts";
import { checkPair } from "../../../platform/tls/check-pair.ts";
import { TlsFileBook } from "./tls-file-book.ts";

const NEVER_MS = 1_000_000;

interface Pair {
  readonly cert: string;
  readonly key: string;
}

let one: Pair;
let two: Pair;

async function makePair(keyType: "ec" | "rsa" = "ec", keySize = 2048): Promise<Pair> {
  const options = { algorithm: "sha256", keyType, keySize } as const;
  const made = await generate([{ name: "commonName", value: "a.example" }], options);
  return { cert: made.cert, key: made.private };
}

beforeAll(async () => {
  one = await makePair();
  two = await makePair();
});

function setUp() {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  const write = (name: string, text: string) => writeFileSync(at(name), text);
  const certificate = certificateSchema.parse({
    kind: "Certificate",
    name: "web",
    certFiles: [at("cert")],
    keyFile: at("key"),
  });
  const listener = listenerSchema.parse({
    kind: "Listener",
    name: "front",
    address: "127.0.0.1",
    port: 443,
    service: "default/web",
    tls: { certificates: ["default/web"], clientCaFile: at("ca") },
  });
  let changes = 0;
  const onChanged = () => {
    changes += 1;
  };
  const book = new TlsFileBook({ onChanged, pollMs: NEVER_MS });
  onTestFinished(() => book.close());
  const follow = () => book.follow([listener], new Map([[keyOf(certificate), certificate]]));
  const web = async () => (await follow()).certificates.get("default/web");
  const ca = async () => (await follow()).clientCas.get(at("ca"));
  return { book, at, write, follow, web, ca, changes: () => changes };
}

test("a certificate and its key are read, and again when they change", async () => {
  const { book, write, web, changes } = setUp();
  write("cert", one.cert);
  write("key", one.key);
  const first = { key: "default/web", certPem: one.cert, keyPem: one.key };
  expect(await web()).toEqual({ value: first, problem: "" });
  write("cert", two.cert);
  write("key", two.key);
  await book.look();
  expect(changes()).toBe(1);
  expect(await web()).toMatchObject({ value: { certPem: two.cert, keyPem: two.key }, problem: "" });
});

test("as long as only one of the two is new, the pair before them stays", async () => {
  const { book, at, write, web } = setUp();
  write("cert", one.cert);
  write("key", one.key);
  await web();
  write("cert", two.cert);
  await book.look();
  expect(await web()).toEqual({
    value: { key: "default/web", certPem: one.cert, keyPem: one.key },
    problem: `${at("key")}: the key does not belong to the certificate in ${at("cert")}`,
  });
});

test("what is missing is named, and found when it comes", async () => {
  const { book, at, write, web } = setUp();
  write("cert", one.cert);
  const missing = await web();
  expect(missing?.value).toBeUndefined();
  expect(missing?.problem).toContain(`${at("key")}: ENOENT`);
  write("key", one.key);
  await book.look();
  expect(await web()).toMatchObject({ problem: "" });
});

test("authorities of clients are read as well", async () => {
  const { book, write, ca } = setUp();
  write("ca", "none");
  expect(await ca()).toMatchObject({ value: undefined, problem: "no certificate in PEM form" });
  write("ca", one.cert);
  await book.look();
  expect(await ca()).toMatchObject({ value: one.cert, problem: "" });
});

test("a certificate that does not exist is not there", async () => {
  const { book } = setUp();
  expect(await book.follow([], new Map())).toEqual({
    certificates: new Map(),
    clientCas: new Map(),
    objects: new Map(),
  });
});

describe("what is wrong is said in words, and never what stands in the key", () => {
  const names = { certFiles: ["c.pem"], keyFile: "k.pem" };
  const ENCRYPTED =
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----";

  test("nothing", () => {
    expect(checkPair(one.cert, one.key, names)).toBeUndefined();
  });

  test.each([
    ["no certificate", () => ["", one.key], "c.pem: no certificate in PEM form"],
    ["no key", () => [one.cert, "x"], "k.pem: no private key in PEM form"],
    [
      "a passphrase",
      () => [one.cert, ENCRYPTED],
      "k.pem: the key has a passphrase; expected one without",
    ],
    [
      "another key",
      () => [one.cert, two.key],
      "k.pem: the key does not belong to the certificate in c.pem",
    ],
  ])("%s", (_name, texts, problem) => {
    const [cert = "", key = ""] = texts();
    expect(checkPair(cert, key, names)).toBe(problem);
  });

  test("a key that is too short", async () => {
    const { cert, key } = await makePair("rsa", 1024);
    expect(checkPair(cert, key, names)).toBe("c.pem: ee key too small");
  });

  test("a key of another type", async () => {
    const { key } = await makePair("rsa");
    expect(checkPair(one.cert, key, names)).toMatch(/^k\.pem: the key does not belong/);
  });
});
