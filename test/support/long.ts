import { test } from 'node:test'

/** What takes too long for every run: `npm run test:long` has it, and elsewhere it is not declared, so nothing is skipped. */
export const isLong = process.env.BURSAR_TEST_LONG === '1'

export function longTest(promise: string, prove: () => Promise<void>): void {
  if (isLong) test(promise, prove)
}
