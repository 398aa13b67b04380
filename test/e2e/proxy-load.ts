import { ask } from "./proxy-fixture.ts";

export const CLIENTS = 16;

export interface Load {
  served(): number;
  /** Settles with what went wrong. */
  stop(): Promise<unknown[]>;
}

/** Clients that come again and again until they are told to stop, each with a connection a request. */
export function startLoad(port: number): Load {
  let isOver = false;
  let served = 0;
  const failures: unknown[] = [];
  const client = async (): Promise<void> => {
    while (!isOver) {
      try {
        const answer = await ask(port, "hello");
        if (answer !== "hello") failures.push(answer);
        served += 1;
      } catch (error) {
        failures.push(error);
      }
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  return {
    served: () => served,
    stop: async () => {
      isOver = true;
      await Promise.all(clients);
      return failures;
    },
  };
}
