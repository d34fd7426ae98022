/** How long to wait before the next attempt: twice as long each time, and never as long as everybody else. */

const FIRST = 1_000
const LONGEST = 30_000

/** Milliseconds before the attempt after so many that have failed: the upper half of what they add up to is
 * left to chance, so that the pages of a server that was restarted don't come back all at once. */
export function pauseAfter(failures: number, chance: number = Math.random()): number {
  const whole = Math.min(LONGEST, FIRST * 2 ** Math.max(0, failures - 1))
  return whole * (1 - chance / 2)
}
