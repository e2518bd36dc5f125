#!/usr/bin/env node
import { isOutOfDescriptors, outOfDescriptors } from './platform/machine/exhaustion.ts'

try {
  // Imported here, because reading the modules may be the first call without a free descriptor.
  const { programOf } = await import('./cli/help/program.ts')
  const { standardOutput } = await import('./cli/output.ts')
  const { runProcess } = await import('./cli/run-command.ts')
  await runProcess(programOf(standardOutput), standardOutput)
} catch (error) {
  if (!isOutOfDescriptors(error)) throw error
  process.stderr.write(`${outOfDescriptors}\n`)
  process.exitCode = 1
}
