import { createPrivateKey } from "node:crypto";
import { generate } from "selfsigned";
import { beforeAll, describe, expect, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { AlpnSelectors } from "./alpn-selectors.ts";
import { loadOpenSsl } from "./load-openssl.ts";
import { TICKET_KEY_BYTES } from "./openssl-numbers.ts";
import { type CertificatePair, SslContext } from "./ssl-context.ts";

let good: CertificatePair;
let other: CertificatePair;

async function makePair(keySize?: number): Promise<CertificatePair> {
  const made = await generate([{ name: "commonName", value: "a.example" }], {
    algorithm: "sha256",
    ...(keySize === undefined ? { keyType: "ec" } : { keyType: "rsa", keySize }),
  });
  return { certPem: made.cert, keyPem: made.private };
}

beforeAll(async () => {
  good = await makePair();
  other = await makePair();
});

function create(certificates: readonly CertificatePair[], clientCaPem = ""): SslContext {
  const calls = loadOpenSsl();
  const sessionContext = new Uint8Array(32);
  const alpn = ["h2", "http/1.1"];
  const options = { certificates, clientCaPem, alpn, sessionContext };
  return new SslContext(calls, new AlpnSelectors(calls), options);
}

describe("a context", requires("linux"), () => {
  test("takes a chain, a key of each type, authorities and keys for tickets", async () => {
    const chained = { ...good, certPem: `${good.certPem}\n${other.certPem}` };
    const context = create([chained, await makePair(2048)], good.certPem);
    context.setTicketKey(new Uint8Array(TICKET_KEY_BYTES));
    context.free();
  });

  test("a key with a passphrase is refused, and nobody is asked for it", () => {
    const cipher = { cipher: "aes-256-cbc", passphrase: "secret" } as const;
    const locked = createPrivateKey(good.keyPem).export({
      type: "pkcs8",
      format: "pem",
      ...cipher,
    });
    expect(() => create([{ ...good, keyPem: String(locked) }])).toThrow(/PEM_read_bio_PrivateKey/);
  });

  test.each([
    ["no certificate", () => [{ ...good, certPem: "none" }], /no certificate in PEM text/],
    ["no key", () => [{ ...good, keyPem: "none" }], /PEM_read_bio_PrivateKey failed/],
    ["another key", () => [{ ...good, keyPem: other.keyPem }], /key values mismatch/],
  ])("%s is refused in words", (_name, pairs, message) => {
    expect(() => create(pairs())).toThrow(message);
    // Nothing of it is left for the next one.
    create([good]).free();
  });

  test("a key that is too short is refused", async () => {
    const short = await makePair(1024);
    expect(() => create([short])).toThrow(/ee key too small/);
  });

  test("authorities that are none are refused", () => {
    expect(() => create([good], "none")).toThrow(/no certificate in PEM text/);
  });
});
