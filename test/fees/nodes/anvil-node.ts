import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** A real EVM node of our own, on a free port, ended with the test; gives its URL. */
export async function startAnvil(test: TestContext, ...flags: readonly string[]): Promise<string> {
  const child = spawn(anvilBinary(), ['--port', '0', '--host', '127.0.0.1', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  test.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /^Listening on (127\.0\.0\.1:\d+)/.exec(line)?.[1]
    if (address !== undefined) return `http://${address}`
  }
  assert.fail('anvil ended before it listened')
}

/** The program itself and not its launcher, which would leave it running when it is killed. */
function anvilBinary(): string {
  const platform = process.platform === 'win32' ? 'win32' : process.platform
  const name = `@foundry-rs/anvil-${platform}-${architectures[process.arch] ?? process.arch}`
  const require = createRequire(
    createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'),
  )
  return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil')
}
