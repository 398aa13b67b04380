import type { Ends } from "../../src/edge/kernel-path/program/map-entries.fixture.ts";
import { isPartial } from "../../src/edge/tunnel/virtio-header.ts";
import { read, write } from "../../src/platform/linux/io-calls.ts";
import { allocateNative } from "../../src/platform/linux/native-memory.ts";
import { VNET_BYTES } from "../../src/platform/linux/tun-device.ts";
import { wordsOfIp } from "../../src/wire/ip/address-words.ts";
import { IpPacket } from "../../src/wire/ip/ip-packet.ts";
import { type PacketEnds, Translation } from "../../src/wire/ip/translate.ts";

const MAX_PACKET_BYTES = 65_600;

/** Does by hand what a tunnel does: brings packets from one TUN to another, with the ends that they have there. */
export class Carrier {
  /** How many packets it was. */
  carried = 0;
  readonly #memory = allocateNative(MAX_PACKET_BYTES);
  readonly #packet = new IpPacket();
  readonly #translations = new Map<string, Translation>();

  translate(from: Ends, to: Ends): void {
    const [before, after] = [packetEnds(from), packetEnds(to)];
    this.#translations.set(keyOf(before), new Translation(before, after));
  }

  /** All that there is. */
  carry(from: number, to: number): void {
    const { address, view } = this.#memory;
    const packet = this.#packet;
    for (;;) {
      const byteCount = read(from, address, MAX_PACKET_BYTES);
      if (byteCount <= 0) return;
      if (!packet.parse(view, VNET_BYTES, byteCount - VNET_BYTES)) continue;
      // What the kernel of a host says by itself: router solicitations and the like.
      if (!packet.hasPorts) continue;
      this.carried += 1;
      const translation = this.#translations.get(keyOf(endsIn(packet)));
      translation?.apply(view, VNET_BYTES, packet, isPartial(view, 0));
      write(to, address, byteCount);
    }
  }
}

/** As seen from the other end. */
export function reversed({ source, destination, sourcePort, destinationPort }: Ends): Ends {
  return {
    source: destination,
    destination: source,
    sourcePort: destinationPort,
    destinationPort: sourcePort,
  };
}

function packetEnds({ source, destination, sourcePort, destinationPort }: Ends): PacketEnds {
  const ports = (sourcePort << 16) | destinationPort;
  return { source: wordsOfIp(source), destination: wordsOfIp(destination), ports };
}

function endsIn({ isV6, s0, s1, s2, s3, d0, d1, d2, d3, ports }: IpPacket): PacketEnds {
  const source = { isV6, w0: s0, w1: s1, w2: s2, w3: s3 };
  return { source, destination: { isV6, w0: d0, w1: d1, w2: d2, w3: d3 }, ports };
}

function keyOf({ source, destination, ports }: PacketEnds): string {
  const words = [source, destination].flatMap(({ w0, w1, w2, w3 }) => [w0, w1, w2, w3]);
  return [...words, ports].join();
}
