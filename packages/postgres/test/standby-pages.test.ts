import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asTenant } from '@bursar/contract'
import { firstPage } from '../../../test/support/selection.ts'
import { statement } from '../../contract/src/resources/statement.ts'
import { type ReadWork, ReplicaBehind, type Servers } from '../src/cluster/servers.ts'
import { openPageBatch, readAlone } from '../src/records/page-batch.ts'

/** Reads from a standby, then from the primary, whose lists have last changed at these times. */
function serversAt(standbyAt: number, primaryAt: number) {
  const read: string[] = []
  const readFrom = (name: string, at: number, mayLag: boolean, work: ReadWork<unknown>) => {
    read.push(name)
    const row = [null, '0', null, 'false', `${at} 1`, '1', null, null]
    const query = async () => [row.map((cell) => cell && Buffer.from(cell))]
    return work({ query } as never, { mayLag } as never)
  }
  const servers = {
    read: (work: ReadWork<unknown>) =>
      readFrom('standby', standbyAt, true, work).catch((error: unknown) => {
        if (!(error instanceof ReplicaBehind)) throw error
        return readFrom('primary', primaryAt, false, work)
      }),
  }
  return { servers: servers as unknown as Servers, read }
}

test('a page is never older than the page before, except on the primary after lost changes', async () => {
  const asked = { tenant: asTenant('acme'), selection: { ...firstPage, notBefore: 5n } }
  for (const [standbyAt, primaryAt, from, at] of [
    [5, 9, ['standby'], 5n],
    [4, 9, ['standby', 'primary'], 9n],
    [4, 3, ['standby', 'primary'], 3n],
  ] as const) {
    for (const page of [
      (servers: Servers) => openPageBatch(servers, statement.full.resource, 'DESC')(asked),
      (servers: Servers) => readAlone(servers, statement.full.resource, asked),
    ]) {
      const { servers, read } = serversAt(standbyAt, primaryAt)
      const { revision } = await page(servers)
      assert.deepEqual([read, revision.changedAt], [from, at], `${standbyAt} and ${primaryAt}`)
    }
  }
})
