import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { describeService } from '../support/describe-service.ts'
import { acme } from '../support/harness.ts'

const service = describeService({ store: 'sqlite' })

const paths = {
  'fiat accounts': ['/v2/transfer/fiat-accounts?', 'items'],
  'fiat accounts, deleted ones too': ['/v2/transfer/fiat-accounts?include_deleted=true&', 'items'],
  statements: [`/v2/statements?customer_id=${acme.customerId}&`, 'statements'],
  'fiat deposit instructions': ['/v2/transfer/fiat-deposit-instructions?', 'items'],
  'deposit addresses': ['/v2/transfer/deposit-addresses?', 'items'],
  'issuer quote executions': ['/v2/issuer-quotes?', 'issuer_quote_executions'],
} as const

test('Python’s requests reads every list to its end', async () => {
  const script = new URL('requests_client.py', import.meta.url).pathname
  const words = [script, service.url, acme.clientId, acme.clientSecret, acme.customerId]
  const { stdout } = await promisify(execFile)('python3', words)
  const expected: Record<string, number> = {}
  for (const [name, [path, envelope]] of Object.entries(paths)) {
    expected[name] = 0
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { body } = await service.call(`${path}limit=1000&page_cursor=${cursor}`)
      expected[name] += body[envelope].length
      cursor = body.next_page_cursor
    }
  }
  assert.deepEqual(JSON.parse(stdout), expected)
})
