import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { familyOf } from "../../core/model/address.ts";

/** Whom to call, and from which address. */
export interface Call {
  readonly from: string;
  readonly to: string;
  readonly port: number;
}

export type CallOutcome =
  /** What the server said, and which port the caller had. */
  | { readonly kind: "answered"; readonly text: string; readonly ownPort: number }
  /** The system said that nobody listens. */
  | { readonly kind: "refused" }
  /** Taken, and ended without an answer. */
  | { readonly kind: "closed" }
  | { readonly kind: "silence" };

/** How long an answer may take: where there should be none, on loopback, it would come far sooner. */
const PATIENCE_MS = { answer: 20_000, silence: 250 } as const;

export function callTcp({ from, to, port }: Call): Promise<CallOutcome> {
  return new Promise((resolve) => {
    let text = "";
    let isConnected = false;
    let ownPort = 0;
    const socket = connect({ host: to, port, localAddress: from });
    socket.setEncoding("utf8");
    socket.on("connect", () => {
      isConnected = true;
      ownPort = socket.localPort ?? 0;
    });
    socket.on("data", (chunk) => {
      text += String(chunk);
    });
    socket.on("error", (error) => {
      // A reset may come before it is told that the connection stood.
      if ("code" in error && error.code === "ECONNRESET") isConnected = true;
    });
    socket.on("close", () => {
      if (text !== "") resolve({ kind: "answered", text, ownPort });
      else resolve({ kind: isConnected ? "closed" : "refused" });
    });
  });
}

export function callUdp(
  { from, to, port }: Call,
  expected: keyof typeof PATIENCE_MS,
): Promise<CallOutcome> {
  return new Promise((resolve) => {
    const socket = createSocket(familyOf(to) === "v6" ? "udp6" : "udp4");
    const end = (outcome: CallOutcome): void => {
      clearTimeout(timer);
      socket.close();
      resolve(outcome);
    };
    const timer = setTimeout(() => end({ kind: "silence" }), PATIENCE_MS[expected]);
    socket.on("error", () => end({ kind: "refused" }));
    socket.on("message", (message) => {
      end({ kind: "answered", text: message.toString(), ownPort: socket.address().port });
    });
    socket.bind(0, from, () => socket.connect(port, to, () => socket.send("hello")));
  });
}
