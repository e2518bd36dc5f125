#!/usr/bin/env node
import { isOutOfDescriptors, outOfDescriptors } from '@bursar/base'

try {
  // Imported here, because reading the modules may be the first call without a free descriptor.
  const { runProgram } = await import('./run-program.ts')
  await runProgram()
} catch (error) {
  if (!isOutOfDescriptors(error)) throw error
  process.stderr.write(`${outOfDescriptors}\n`)
  process.exitCode = 1
}
