/** Whether a status is one of those: classes such as `2xx`, codes such as `204`. */
export function isStatusIn(status: number, accepted: readonly string[]): boolean {
  const code = String(status);
  const statusClass = `${code[0]}xx`;
  return accepted.some((one) => one === code || one === statusClass);
}
