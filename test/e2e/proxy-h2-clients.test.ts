import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../support/requires.ts";
import { LOCAL } from "./proxy-config.ts";
import { named, startH2, startHttp1, startProxy } from "./proxy-h2-fixture.ts";

const run = promisify(execFile);

const asText = (text: string): Buffer => Buffer.from(text);
const fromText = (bytes: Buffer): string => bytes.toString();
const CODING = {
  requestSerialize: asText,
  requestDeserialize: fromText,
  responseSerialize: asText,
  responseDeserialize: fromText,
};
const METHODS = {
  upper: { path: "/test.Words/Upper", requestStream: false, responseStream: false, ...CODING },
  talk: { path: "/test.Words/Talk", requestStream: true, responseStream: true, ...CODING },
};

/** A gRPC server that says words again, in upper case. */
async function startWords(name: string): Promise<number> {
  const server = new grpc.Server();
  server.addService(METHODS, {
    upper(call: grpc.ServerUnaryCall<string, string>, reply: grpc.sendUnaryData<string>) {
      if (call.request === "?") reply({ code: grpc.status.INVALID_ARGUMENT, details: "no word" });
      else reply(null, `${name} ${call.request.toUpperCase()}`);
    },
    talk(call: grpc.ServerDuplexStream<string, string>) {
      call.on("data", (word: string) => call.write(`${name} ${word.toUpperCase()}`));
      call.on("end", () => call.end());
    },
  });
  const port = await promisify(server.bindAsync.bind(server))(
    `${LOCAL}:0`,
    grpc.ServerCredentials.createInsecure(),
  );
  onTestFinished(() => server.forceShutdown());
  return port ?? 0;
}

function dialWords(port: number): grpc.Client {
  const client = new grpc.Client(`${LOCAL}:${port}`, grpc.credentials.createInsecure());
  onTestFinished(() => client.close());
  return client;
}

async function upper(client: grpc.Client, word: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(METHODS.upper.path, asText, fromText, word, (error, value) => {
      if (error === null) resolve(value);
      else reject(error);
    });
  });
}

describe("gRPC", requires("linux"), () => {
  test("calls of one client are balanced one by one", async () => {
    const proxy = await startProxy([await startWords("a"), await startWords("b")]);
    const client = dialWords(proxy.port());
    const answers = await Promise.all(Array.from({ length: 40 }, () => upper(client, "word")));
    expect(answers.filter((answer) => answer === "a WORD").length).toBe(20);
    expect(answers.filter((answer) => answer === "b WORD").length).toBe(20);
  });

  test("errors of a server are the client's, and large messages pass", async () => {
    const proxy = await startProxy([await startWords("a")]);
    const client = dialWords(proxy.port());
    await expect(upper(client, "?")).rejects.toMatchObject({
      code: grpc.status.INVALID_ARGUMENT,
      details: "no word",
    });
    const word = "w".repeat(2_000_000);
    expect((await upper(client, word)) === `a ${word.toUpperCase()}`).toBe(true);
  });

  test("a conversation, word for word", async () => {
    const proxy = await startProxy([await startWords("a")]);
    const call = dialWords(proxy.port()).makeBidiStreamRequest(METHODS.talk.path, asText, fromText);
    const words = Array.from({ length: 100 }, (_, at) => `word ${at}`);
    const heard: string[] = [];
    const next = call[Symbol.asyncIterator]();
    for (const word of words) {
      call.write(word);
      heard.push((await next.next()).value);
    }
    call.end();
    expect((await next.next()).done).toBe(true);
    expect(heard).toEqual(words.map((word) => `a ${word.toUpperCase()}`));
  });

  test("without a server a call is answered as unavailable", async () => {
    const proxy = await startProxy([]);
    await expect(upper(dialWords(proxy.port()), "x")).rejects.toMatchObject({
      code: grpc.status.UNAVAILABLE,
    });
  });
});

test("nghttp gets what it asks for", requires("linux", "nghttp"), async () => {
  const proxy = await startProxy([await startH2(named("hello"))]);
  const { stdout } = await run("nghttp", ["-v", `http://${LOCAL}:${proxy.port()}/a`]);
  expect(stdout).toContain(":status: 200");
  expect(stdout).toContain("hello");
});

test.each([
  ["HTTP/2", async () => startH2(named("hello"))],
  ["HTTP/1.1", async () => startHttp1((_, answer) => answer.end("hello"))],
])(
  "h2load: thousands of requests to a server of %s, none fails",
  requires("linux", "h2load"),
  async (_, start) => {
    const proxy = await startProxy([await start()]);
    const url = `http://${LOCAL}:${proxy.port()}/`;
    const { stdout } = await run("h2load", ["-n", "3000", "-c", "10", "-m", "30", url]);
    expect(stdout).toContain("3000 succeeded, 0 failed, 0 errored, 0 timeout");
    expect(stdout).toContain("status codes: 3000 2xx");
  },
);
