import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  type ExactJson,
  parseExactJson,
} from '../../../packages/fees/src/sources/nodes/exact-json.ts'
import { freePort } from '../../support/free-port.ts'
import { firstLine } from './first-line.ts'

export type LitecoinNode = {
  readonly url: string
  /** The value of the Authorization header. */
  readonly authorization: string
  readonly call: (method: string, ...params: readonly unknown[]) => Promise<ExactJson>
}

/**
 * Whether the program is installed. With CI=true, where tests must not be skipped, its absence
 * fails.
 */
export function litecoindExists(): boolean {
  const exists = spawnSync('litecoind', ['-version'], { stdio: 'ignore' }).status === 0
  assert(exists || process.env.CI !== 'true', 'litecoind is missing: apt-get install litecoind')
  return exists
}

/** Starts a Litecoin node on a private chain (regtest) and deletes it after the test. */
export async function startLitecoind(test: TestContext): Promise<LitecoinNode> {
  const directory = await mkdtemp(join(tmpdir(), 'bursar-litecoin-'))
  const port = await freePort()
  const child = spawn(
    'litecoind',
    [
      '-regtest',
      '-server',
      `-datadir=${directory}`,
      `-rpcport=${port}`,
      '-rpcuser=test',
      '-rpcpassword=test',
      '-listen=0',
      '-dnsseed=0',
      '-fallbackfee=0.0001',
      '-printtoconsole',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  test.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await rm(directory, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${port}`
  const authorization = `Basic ${Buffer.from('test:test').toString('base64')}`
  await firstLine(child.stdout, /Done loading/)
  return { url, authorization, call: caller(url, authorization) }
}

function caller(url: string, authorization: string): LitecoinNode['call'] {
  return async (method, ...params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ method, params }),
    })
    const answer = parseExactJson(await response.text()) as { result: ExactJson; error: ExactJson }
    assert.equal(answer.error, null, `${method}: ${JSON.stringify(answer.error)}`)
    return answer.result
  }
}
