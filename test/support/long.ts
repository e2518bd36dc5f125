import { type TestContext, test } from 'node:test'

/** Long tests run in `npm run test:long` only; other runs do not declare them. */
export const isLong = process.env.BURSAR_TEST_LONG === '1'

export function longTest(promise: string, prove: (t: TestContext) => Promise<void>): void {
  if (isLong) test(promise, prove)
}
