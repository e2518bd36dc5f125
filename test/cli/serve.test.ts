import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/harness.ts'
import { runBursar } from '../support/run-bursar.ts'

test('serve tells in a sentence that its port is taken, and ends', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve)
  })
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const store = `sqlite:${join(temporaryFolder(), 'bursar.db')}`
  const ran = await runBursar(store, ['serve', '--port', String(port)])
  other.close()
  assert.equal(ran.code, 1)
  assert.equal(
    ran.err.trim().split('\n').at(-1),
    `127.0.0.1:${port} is taken by another program; --port or PORT chooses another`,
  )
})
