import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { firstLine } from './first-line.ts'

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Starts a real EVM node on a free port, stops it after the test and returns its URL. */
export async function startAnvil(test: TestContext, ...flags: readonly string[]): Promise<string> {
  const child = spawn(anvilBinary(), ['--port', '0', '--host', '127.0.0.1', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  test.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const [, address] = await firstLine(child.stdout, /^Listening on (127\.0\.0\.1:\d+)/)
  return `http://${address}`
}

/** Runs the program without its launcher, which would leave it running when it is killed. */
function anvilBinary(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${architectures[process.arch] ?? process.arch}`
  const require = createRequire(import.meta.resolve('@foundry-rs/anvil/package.json'))
  return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil')
}
