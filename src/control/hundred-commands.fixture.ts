import type { ErrorCode } from "../core/errors.ts";

/** A command, and the code that it is refused with; undefined where it is carried out. */
export interface TypedCommand {
  readonly line: string;
  readonly refused: ErrorCode | undefined;
}

/** What differs between the machines that the commands are run on. */
export interface CommandPlace {
  /** Ports from here on are free, a dozen of them. */
  readonly firstPort: number;
  readonly certFile: string;
  readonly keyFile: string;
  /** A folder where a configuration may be written. */
  readonly folder: string;
}

/**
 * About a hundred commands for an empty instance with an engine: every resource, every action, and
 * refusals among them. Given one after the other, by whoever may give system commands, each has
 * always the same result. Nobody is called and nothing is checked, so nothing depends on time.
 */
export function hundredCommands(place: CommandPlace): readonly TypedCommand[] {
  const at = (offset: number): string => `127.0.0.1:${place.firstPort + offset}`;
  const pem = `cert ${place.certFile} key ${place.keyFile}`;
  const saved = `${place.folder}/hundred.conf`;
  return [
    ...fine(
      "version",
      "list tcp-lb",
      "list-detail upstream",
      // Servers, groups and what sends to them.
      "add upstream u0",
      "add ups u1",
      "add server-group g0 timeout 500 period 1000 up 2 down 3 method wrr protocol none",
      "add sg g1 method wlc protocol none slow-start 10000",
      'add server-group g2 protocol none annotations {"vproxy/hint-host":"b.example","team":"shop"}',
      "add server s1 to server-group g0 address 192.0.2.1:80 weight 10",
      "a svr s2 to sg g0 address 192.0.2.2:80",
      'add server s3 to server-group g0 address "[2001:db8::3]:8080" weight 0',
      "add server s1 to server-group g1 address 192.0.2.4:80",
      "add server-group g0 to upstream u0 weight 10",
      "add server-group g1 to upstream u0 weight 5 hint-host a.example hint-path /api",
      "list upstream",
      "list server-group",
      "list-detail server-group",
      "list server in server-group g0",
      "list-detail server in server-group g0",
      "list server-group in upstream u0",
      "list-detail server-group in upstream u0",
      "list-detail upstream",
    ),
    ...refused(
      ["add upstream u0", "ERR_KEY_TAKEN"],
      ["add upstream (none)", "ERR_USAGE"],
      ["add server s1 to server-group g0 address 192.0.2.9:80", "ERR_KEY_TAKEN"],
      ["add server s9 to server-group nowhere address 192.0.2.9:80", "ERR_NOT_FOUND"],
      ["add server s9 to server-group g0 address 192.0.2.9 weight 70000", "ERR_USAGE"],
      ["add server-group g9 method best", "ERR_USAGE"],
      ["add server-group g0 to upstream u0 weight 1", "ERR_KEY_TAKEN"],
      ["update server s9 in server-group g0 weight 1", "ERR_NOT_FOUND"],
      ["remove server-group g0", "ERR_IN_USE"],
      ["add", "ERR_USAGE"],
      ["frobnicate upstream u0", "ERR_USAGE"],
    ),
    ...fine(
      "update server s1 in server-group g0 weight 0",
      "update server s2 in server-group g0 address 192.0.2.22:8080",
      "update server-group g0 method source down 5",
      "update server-group g1 in upstream u0 weight 0",
      "remove server s3 from server-group g0",
      "list-detail server in server-group g0",
      // Who may call, and with which certificates.
      "add security-group secg0 default deny",
      "add security-group-rule r0 to security-group secg0 network 127.0.0.0/8 protocol tcp port-range 1,65535 default allow",
      "add secgr r1 to secg secg0 network 2001:db8::/32 default deny",
      "list security-group",
      "list-detail security-group-rule in security-group secg0",
      "update security-group-rule r1 in security-group secg0 protocol udp port-range 53",
      "update security-group secg0 default allow",
      "list security-group-rule in security-group secg0",
      `add cert-key c0 ${pem}`,
      `add cert-key c1 ${pem}`,
      "list cert-key",
    ),
    ...refused(
      ["add security-group secg1 default perhaps", "ERR_USAGE"],
      [
        "add security-group-rule r2 to security-group secg0 network 300.0.0.0/8 default allow",
        "ERR_USAGE",
      ],
      ["remove security-group-rule r9 from security-group secg0", "ERR_NOT_FOUND"],
      ["add cert-key c2 cert /nowhere/site.pem key /nowhere/site.key", "ERR_USAGE"],
    ),
    ...fine(
      // Event loops.
      "add event-loop-group elg0",
      "add event-loop el0 to event-loop-group elg0",
      "list event-loop in event-loop-group elg0",
      "list event-loop-group",
      // Listeners.
      `add tcp-lb lb0 address ${at(0)} upstream u0 protocol http security-group secg0`,
      `add tl lb1 address ${at(1)} upstream u0 cert-key c0,c1 event-loop-group elg0 timeout 60000`,
      `add udp-lb ulb0 address ${at(2)} upstream u1 timeout 30000`,
      `add socks5-server s5 address ${at(3)} upstream u0`,
      `add dns-server dns0 address ${at(4)} upstream u0`,
      "list tcp-lb",
      "list udp-lb",
      "list socks5-server",
      "list dns-server",
      "update tcp-lb lb0 upstream u1 in-buffer-size 32768",
      "update tcp-lb lb1 cert-key c1",
      'update tcp-lb lb0 security-group ""',
      "update socks5-server s5 allow-non-backend",
      "list connection in tcp-lb lb0",
      "list-detail session in tcp-lb lb0",
      "list bytes-in in tcp-lb lb0",
      "list bytes-out in tcp-lb lb0",
      "list accepted-conn-count in tcp-lb lb0",
      "list bytes-in in server s1 in server-group g0",
      "list dns-cache in dns-server dns0",
    ),
    ...refused(
      [`add socks5-server lb0 address ${at(5)} upstream u0`, "ERR_KEY_TAKEN"],
      [`add tcp-lb lb9 address ${at(0)} upstream u0`, "ERR_ADDRESS_TAKEN"],
      [`add tcp-lb lb9 address ${at(5)} upstream u9`, "ERR_NOT_FOUND"],
      [`add tcp-lb lb9 address ${at(5)}`, "ERR_USAGE"],
      ["update tcp-lb s5 timeout 1000", "ERR_NOT_FOUND"],
      [`update tcp-lb lb0 address ${at(6)}`, "ERR_USAGE"],
      ["update tcp-lb lb0 security-group nobody", "ERR_NOT_FOUND"],
      ["remove upstream u0", "ERR_IN_USE"],
      ["remove cert-key c1", "ERR_IN_USE"],
      ["remove event-loop-group elg0", "ERR_IN_USE"],
      ["list connection in tcp-lb lb9", "ERR_NOT_FOUND"],
      ["remove connection 127.0.0.1:1/127.0.0.1:2 from tcp-lb lb0", "ERR_NOT_FOUND"],
    ),
    ...fine(
      // Services as Kubernetes knows them.
      "add service web cluster-ips 10.96.0.10 ports http:80:8080/tcp",
      "add service shop/cart type NodePort cluster-ips 10.96.0.11 ports 80:8080/tcp@30080 affinity 600",
      "add endpoint web-1 to service web address 192.0.2.31 ports http=8080 node n1 zone a",
      "add endpoint web-2 to service web address 192.0.2.32,2001:db8::32 not-ready",
      "update service web internal-policy Local source-ranges 10.0.0.0/8",
      "update endpoint web-2 in service web ready",
      "list service",
      "list endpoint in service web",
    ),
    ...refused(
      ["add service api cluster-ips 10.96.0.10 ports 80", "ERR_ADDRESS_TAKEN"],
      ["add service api ports eighty", "ERR_USAGE"],
      ["remove endpoint web-9 from service web", "ERR_NOT_FOUND"],
    ),
    ...fine(
      `save ${saved}`,
      `load ${saved}`,
      "list resp-controller",
      // And away with it.
      "remove endpoint web-1 from service web",
      "force-remove service web",
      "remove dns-server dns0",
      "remove socks5-server s5",
      "remove udp-lb ulb0",
      "force-remove upstream u0",
      "remove tcp-lb lb1",
      "remove cert-key c1",
      "remove security-group secg0",
      "remove event-loop el0 from event-loop-group elg0",
      "remove event-loop-group elg0",
      "force-remove server-group g1",
      "list config",
    ),
    ...refused(
      ["load /nowhere/at-all.conf", "ERR_STATE_UNREADABLE"],
      ["remove tcp-lb lb1", "ERR_NOT_FOUND"],
    ),
  ];
}

function fine(...lines: readonly string[]): readonly TypedCommand[] {
  return lines.map((line) => ({ line, refused: undefined }));
}

function refused(...cases: readonly (readonly [string, ErrorCode])[]): readonly TypedCommand[] {
  return cases.map(([line, code]) => ({ line, refused: code }));
}
