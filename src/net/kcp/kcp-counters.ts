/** What the tunnels of a loop did and saw. */
export class KcpCounters {
  /** Tunnels that stand, of either end. */
  tunnels = 0;
  /** Handshakes that both ends finished. */
  handshakes = 0;
  /** Handshakes of somebody with another secret, or forged. */
  refusedHandshakes = 0;
  /** Datagrams that were sealed by nobody we know, or changed on their way. */
  forgedDatagrams = 0;
  /** Datagrams that came before. */
  replayedDatagrams = 0;
  /** Datagrams that are none of ours. */
  strangeDatagrams = 0;
  /** Tunnels that ended because the other end was silent, or had forgotten them. */
  lostTunnels = 0;
  datagramsIn = 0;
  datagramsOut = 0;
  bytesIn = 0;
  bytesOut = 0;
  /** Segments that were sent again. */
  resentSegments = 0;
}
