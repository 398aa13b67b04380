/** What is told of listeners with TLS where the engine can not terminate it, and what to do. */
export function tlsObstacleOf(problem: string): string {
  return `TLS is terminated by the provider posix only (Linux; x64, arm64), and ${problem}: run it there, or have TLS end before it`;
}
