import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { acme, startTestService, type TestService } from '../support/harness.ts'
import { generateTypes, schemaPath } from './generate.ts'
import { Refused, readEverything, summary } from './reads.ts'

/** A client that a third-party generator and library make from the document alone. */

let service: TestService

before(async () => {
  service = await startTestService()
})
after(() => service.stop())

describe('a client generated from the document', () => {
  test('is the checked-in output of the generator', async () => {
    assert.equal(
      await generateTypes(),
      readFileSync(schemaPath, 'utf8'),
      'schema.d.ts is out of date; run `node test/generated-client/generate.ts --write`',
    )
  })

  test('compiles in strict mode, with the expected type errors', async () => {
    const [compiler, client] = [
      new URL('../../node_modules/.bin/tsc', import.meta.url).pathname,
      new URL('reads.ts', import.meta.url).pathname,
    ]
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--allowImportingTsExtensions',
      ...['--module', 'nodenext', '--target', 'es2025', '--types', 'node'],
    ]
    const compiling = promisify(execFile)(compiler, [...options, client])
    const told = await compiling.catch(({ stdout }) => ({ stdout }))
    assert.equal(told.stdout, '')
  })

  test('reads every operation', async () => {
    const everything = await readEverything(service.url, await service.tokenOf(acme), 'acme')
    const { fiatAccount, depositInstruction, ...lists } = everything
    for (const [name, records] of Object.entries(lists)) {
      assert.equal(records.length, 10, name)
      assert.equal(new Set(records.map(({ id }) => id)).size, 10, name)
    }
    assert.equal(fiatAccount.id, lists.fiatAccounts[0]?.id)
    assert.deepEqual(depositInstruction, lists.depositInstructions[0])
    assert.ok(lists.statements.every(({ customer_id }) => customer_id === 'acme'))
    assert.ok(lists.issuerQuotes.every(({ status }) => status === 'COMPLETE'))
    const networks = new Set(lists.depositAddresses.map(({ crypto_network }) => crypto_network))
    assert.deepEqual([...networks].toSorted(), ['BITCOIN', 'ETHEREUM'])
    assert.ok(summary(everything).length > 10)
  })

  test('receives a refusal as the documented problem', async () => {
    await assert.rejects(readEverything(service.url, 'no-token', 'acme'), (error) => {
      assert.ok(error instanceof Refused)
      assert.equal(error.problem?.status, 401)
      assert.equal(typeof error.problem?.request_id, 'string')
      return true
    })
  })
})
