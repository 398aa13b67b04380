import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { encodeReply, type RespVersion } from "../../wire/resp/encode-reply.ts";
import type { Caller } from "../command.ts";
import type { Control } from "../control.ts";
import { CERT_FILE, KEY_FILE, MemoryWorld } from "../control-world.fixture.ts";
import { createControl } from "../create-control.ts";
import { tokenize } from "../grammar/tokenize.ts";
import { hundredCommands } from "../hundred-commands.fixture.ts";
import { startTestController, type TestController } from "./controller.fixture.ts";
import { arrayOf } from "./raw-client.fixture.ts";
import { renderError, renderReply } from "./render-reply.ts";

const CALLER: Caller = { via: "resp", from: "test", maySystem: true };
const COMMANDS = hundredCommands({
  firstPort: 20_000,
  certFile: CERT_FILE,
  keyFile: KEY_FILE,
  folder: "/saved",
});

const newControl = (): Control => createControl(new MemoryWorld());

/** What the same commands come to without a controller between. */
async function expectedReplies(version: RespVersion): Promise<string> {
  const control = newControl();
  const replies: Buffer[] = [];
  for (const { line } of COMMANDS) {
    const reply = await (async () => control.run(control.parse(line), CALLER))().then(
      (result) => renderReply(result, version),
      (error: unknown) => {
        expect(error).toBeInstanceOf(CoreError);
        return renderError(error);
      },
    );
    replies.push(encodeReply(reply, version));
  }
  return Buffer.concat(replies).toString();
}

const start = (): Promise<TestController> =>
  startTestController({ control: newControl(), maySystem: true });

test("a hundred commands as lines, all at once", async () => {
  const expected = await expectedReplies(2);
  const client = await (await start()).open();
  client.send(COMMANDS.map(({ line }) => `${line}\r\n`).join(""));
  expect(await client.take(Buffer.byteLength(expected))).toBe(expected);
});

test("a hundred commands as arrays, in version 3", async () => {
  const expected = await expectedReplies(3);
  const client = await (await start()).open();
  client.send(arrayOf("HELLO", "3"));
  client.send(COMMANDS.map(({ line }) => arrayOf(...wordsOf(line))).join(""));
  client.send(arrayOf("QUIT"));
  const received = await client.rest();
  const afterHello = received.slice(
    received.indexOf("modules\r\n*0\r\n") + "modules\r\n*0\r\n".length,
  );
  expect(afterHello).toBe(`${expected}+OK\r\n`);
});

function wordsOf(line: string): readonly string[] {
  try {
    return tokenize(line).map(({ text }) => text);
  } catch {
    // What can not be told apart is sent as it is.
    return [line];
  }
}
