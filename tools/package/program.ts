/** What the package bundles in one script. Each part is evaluated when it is called. */

export const runProgram = async () =>
  (await import('../../packages/cli/src/run-program.ts')).runProgram()

export const startSandboxHere = async () =>
  (await import('../../packages/sandbox/src/testing/sandbox-here.ts')).startSandboxHere()
