import { request } from "node:http";
import * as z from "zod";
import { CoreError, messageOf } from "../../core/errors.ts";

/** Knows containers by name or id. */
export interface ContainerEngine {
  /**
   * The pid of a container's first process; 0 where it does not run, undefined where there is none.
   * @throws CoreError ERR_NOT_POSSIBLE_HERE where the engine does not answer
   */
  pidOf(container: string): Promise<number | undefined>;
}

const TIMEOUT_MS = 5000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const OK = 200;
const NOT_FOUND = 404;

const containerSchema = z.object({ State: z.object({ Pid: z.int().min(0) }) });

/** By the Docker API on a unix socket, which podman speaks as well. */
export function createDockerEngine(socketPath: string): ContainerEngine {
  return {
    pidOf: async (container) => {
      const { status, text } = await get(
        socketPath,
        `/containers/${encodeURIComponent(container)}/json`,
      );
      if (status === NOT_FOUND) return undefined;
      const parsed = status === OK ? containerSchema.safeParse(parseJson(text)) : undefined;
      if (parsed?.success) return parsed.data.State.Pid;
      throw failed(socketPath, `it answered ${status} without the pid of the container`);
    },
  };
}

interface EngineAnswer {
  readonly status: number;
  readonly text: string;
}

function get(socketPath: string, path: string): Promise<EngineAnswer> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(failed(socketPath, messageOf(error), error));
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const sent = request({ socketPath, path, signal, headers: { host: "docker" } }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("error", fail);
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) response.destroy(new Error("its answer is too long"));
        else chunks.push(chunk);
      });
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.on("error", fail);
    sent.end();
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failed(socketPath: string, why: string, cause?: unknown): CoreError {
  return new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    `the container engine at ${socketPath} could not be asked: ${why}; name its socket with --engine-socket`,
    cause === undefined ? undefined : { cause },
  );
}
