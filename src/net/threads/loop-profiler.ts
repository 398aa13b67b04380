import { Session } from "node:inspector";

/** Takes a CPU profile of this thread. A session inside the thread answers without an event loop. */
export class LoopProfiler {
  #session: Session | undefined;

  get isRunning(): boolean {
    return this.#session !== undefined;
  }

  start(): void {
    const session = new Session();
    session.connect();
    session.post("Profiler.enable");
    session.post("Profiler.start");
    this.#session = session;
  }

  /** The profile as `.cpuprofile` holds it. */
  stop(): string {
    let profile = "";
    this.#session?.post("Profiler.stop", (error, result) => {
      if (error !== null) throw error;
      profile = JSON.stringify(result.profile);
    });
    this.#session?.disconnect();
    this.#session = undefined;
    return profile;
  }
}
