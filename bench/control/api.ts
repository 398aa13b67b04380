import { setTimeout as sleep } from "node:timers/promises";

/** The HTTP API of an instance. */
export interface Api {
  /** @throws where it is refused */
  call(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: object): Promise<void>;
  pause(ms: number): Promise<void>;
}

export function createApi(port: number): Api {
  return {
    call: async (method, path, body) => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/module/${path}`, {
        method,
        ...(body && {
          body: JSON.stringify(body),
          headers: { "content-type": "application/json" },
        }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    },
    pause: (ms) => sleep(ms),
  };
}
