import { createConnection } from "node:net";
import * as z from "zod";
import { CoreError, messageOf } from "../../core/errors.ts";
import { formatHostPort } from "../../core/model/address.ts";
import type { Packet } from "../../core/route/packet.ts";
import type { Verdict } from "../../core/route/verdict.ts";
import type { LiveAnswer } from "../backend.ts";
import { livePath } from "./live-server.ts";
import type { LiveMeaning, LiveQuestion } from "./live-table.ts";

const TIMEOUT_MS = 5000;

const meaningSchema: z.ZodType<LiveMeaning> = z
  .object({ lines: z.array(z.string()), candidates: z.array(z.string()).optional() })
  .transform((meaning) => ({ ...meaning, candidates: meaning.candidates }));

/** Asks the tunnel that runs in this network namespace. @throws CoreError ERR_NOT_POSSIBLE_HERE */
export async function explainLive(packet: Packet): Promise<LiveAnswer> {
  const { dst, protocol, dstPort } = packet;
  const meaning = meaningSchema.parse(await ask({ dst, protocol, dstPort }));
  return {
    lines: meaning.lines,
    differencesFrom: (verdict) => differences(meaning, verdict),
    doubtsAbout: () => [],
  };
}

/** The rules turn others away before the tunnel sees them: a packet from outside is not compared. */
function differences({ candidates }: LiveMeaning, verdict: Verdict): readonly string[] {
  const isEdge = verdict.kind !== "not-ours" && verdict.matched.type === "edge-ip";
  if (!isEdge) return candidates === undefined ? [] : ["the tunnel serves it, the state does not"];
  if (verdict.kind !== "endpoints") return [];
  const expected = new Set(
    verdict.candidates.map(({ address, targetPort }) => formatHostPort(address, targetPort)),
  );
  const seen = new Set(candidates);
  return [
    ...[...expected]
      .filter((at) => !seen.has(at))
      .map((at) => `the tunnel does not send to ${at} at this moment`),
    ...[...seen].filter((at) => !expected.has(at)).map((at) => `the tunnel sends to ${at} as well`),
  ];
}

async function ask(question: LiveQuestion): Promise<unknown> {
  const path = livePath();
  try {
    return await new Promise<unknown>((resolve, reject) => {
      const socket = createConnection(path, () => socket.write(`${JSON.stringify(question)}\n`));
      socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("it does not answer")));
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      socket.on("error", reject);
      socket.on("close", () => {
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          reject(error);
        }
      });
    });
  } catch (cause) {
    const message = `no tunnel of --to edge answers at ${path} (${messageOf(cause)}); start one in this network namespace, and ask as root`;
    throw new CoreError("ERR_NOT_POSSIBLE_HERE", message, { cause });
  }
}
