const STEP = 1000;
const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB", "PB"] as const;
const COUNT_UNITS = ["", "k", "M", "G", "T", "P"] as const;
/** From here on no digits after the point are worth reading. */
const NO_FRACTION_FROM = 100;

/** `999 B`, `1.2 kB`, `340 MB`. */
export function formatBytes(bytes: number): string {
  return scaled(bytes, BYTE_UNITS, " ");
}

/** `17`, `1.2k`, `3.4M`. */
export function formatCount(count: number): string {
  return scaled(count, COUNT_UNITS, "");
}

function scaled(amount: number, units: readonly string[], gap: string): string {
  let value = amount;
  let unit = 0;
  // What would be rounded up to 1000 is one of the next unit.
  while (Math.round(value) >= STEP && unit < units.length - 1) {
    value /= STEP;
    unit++;
  }
  const hasFraction = value < NO_FRACTION_FROM && unit > 0;
  const text = hasFraction ? value.toFixed(1) : String(Math.round(value));
  return `${text}${gap}${units[unit]}`.trimEnd();
}

/** A frequency: with one digit after the point where it is small. */
export function formatRate(perSecond: number): string {
  const isSmall = perSecond > 0 && perSecond < 10;
  return isSmall ? perSecond.toFixed(1) : formatCount(perSecond);
}

const SECONDS = { minute: 60, hour: 3600, day: 86_400 } as const;

/** `12 s`, `3 min 12 s`, `2 h 5 min`, `4 d 3 h`. */
export function formatDuration(seconds: number): string {
  const whole = Math.floor(seconds);
  const { minute, hour, day } = SECONDS;
  if (whole < minute) return `${whole} s`;
  if (whole < hour) return `${Math.floor(whole / minute)} min ${whole % minute} s`;
  if (whole < day)
    return `${Math.floor(whole / hour)} h ${Math.floor((whole % hour) / minute)} min`;
  return `${Math.floor(whole / day)} d ${Math.floor((whole % day) / hour)} h`;
}

/** `0.4 ms`, `12 ms`. */
export function formatMs(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
