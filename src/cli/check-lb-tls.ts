import { tlsObstacleOf } from "../backends/userspace/tls-obstacle.ts";
import { CoreError } from "../core/errors.ts";
import { posixProblem } from "../net/posix/posix-support.ts";

/**
 * That a load balancer with certificates can speak TLS here: one that could not would serve nobody.
 * @param flag what asks for it
 * @throws CoreError ERR_NOT_POSSIBLE_HERE
 */
export async function checkLbTls(
  provider: string,
  flag = "--tls-cert",
  machine: { readonly platform: string; readonly arch: string } = process,
): Promise<void> {
  const problem = provider === "node" ? "--provider is node" : await posixProblem(machine);
  if (problem === undefined) return;
  throw new CoreError("ERR_NOT_POSSIBLE_HERE", `${flag}: ${tlsObstacleOf(problem)}`);
}
