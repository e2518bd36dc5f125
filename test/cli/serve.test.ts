import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/harness.ts'
import { runBursar } from '../support/run-bursar.ts'

test('serve reports in one sentence that its port is in use, and exits', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve)
  })
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : undefined
  await endsWith(
    ['--port', String(port)],
    `127.0.0.1:${port} is already in use; choose another port with --port or PORT`,
  )
  other.close()
})

test('serve reports in one sentence that its host is not on this machine, and exits', async () => {
  // RFC 5737 reserves the address for documents. RFC 6761 says that .invalid never resolves.
  await endsWith(
    ['--host', '192.0.2.1', '--port', '0'],
    '192.0.2.1 is not an address of this machine; choose another with --host or HOST',
  )
  await endsWith(
    ['--host', 'bursar.invalid', '--port', '0'],
    'the host name bursar.invalid cannot be resolved; check its spelling',
  )
})

async function endsWith(options: readonly string[], sentence: string): Promise<void> {
  const store = `sqlite:${join(temporaryFolder(), 'bursar.db')}`
  const ran = await runBursar(store, ['serve', ...options])
  assert.equal(ran.code, 1)
  assert.equal(ran.err.trim().split('\n').at(-1), sentence)
}
