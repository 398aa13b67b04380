import { PlainPeer, type StreamNotes } from "../../wire/http2/plain-peer.fixture.ts";
import type { SimulatedEnd, SimulatedProxy } from "../loop/simulated-proxy.fixture.ts";

/** One who speaks HTTP/2 in a simulated network. What it has to say goes out with `flush`. */
export class SimulatedPeer {
  readonly end: SimulatedEnd;
  readonly peer: PlainPeer;

  constructor(role: "server" | "client", end: SimulatedEnd) {
    this.end = end;
    this.peer = new PlainPeer(role);
    end.onBytes = (bytes) => {
      this.peer.receive(bytes);
      this.flush();
    };
  }

  /** As far as the network takes it. */
  flush(): void {
    for (;;) {
      const { bytes, start, size } = this.peer.output;
      const taken = size === 0 ? 0 : this.end.write(bytes.subarray(start, start + size));
      if (taken <= 0) return;
      this.peer.output.drop(taken);
      this.peer.connection.pump();
    }
  }

  request(isEnd = true): StreamNotes {
    const notes = this.peer.request(isEnd);
    this.flush();
    return notes;
  }
}

export function dialPeer(proxy: SimulatedProxy): SimulatedPeer {
  const client = new SimulatedPeer("client", proxy.dial());
  proxy.run(10);
  client.flush();
  proxy.run(10);
  return client;
}
