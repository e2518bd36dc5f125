import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asTenant } from '@bursar/contract'
import { StoreDamaged } from '@bursar/records'
import { anId } from '../../../test/support/records.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import type { Servers } from '../src/cluster/servers.ts'
import { openGetBatch } from '../src/records/look-ups.ts'
import { openPageBatch } from '../src/records/page-batch.ts'
import { openPastBatches } from '../src/records/past-batch.ts'

const damaged = 'globex'
const tenants = ['acme', damaged, 'initech'].map(asTenant)

/** Servers that cannot read the records of one customer, and the values of each statement. */
function damagedServers() {
  const statements: string[] = []
  type Asked = { readonly values: readonly unknown[] }
  const run = ({ values }: Asked) => {
    const asked = JSON.stringify(values)
    statements.push(asked)
    if (asked.includes(damaged)) throw new StoreDamaged('XX001: invalid page')
    return asked
  }
  const servers = {
    read: (work: Parameters<Servers['read']>[0]) =>
      work(
        {
          query: async (asked: Asked) => {
            const none = [null, '0', null, 'false', '0', '1', null, null]
            const isGet = run(asked).includes(anId(1))
            return isGet ? [] : [none.map((text) => text && Buffer.from(text))]
          },
          rows: async (asked: Asked) => {
            run(asked)
            return [{ at: 1n, found: 0n, is_cut: false }]
          },
        } as never,
        { mayLag: false } as never,
      ),
  }
  return { servers: servers as unknown as Servers, statements }
}

test('a page that PostgreSQL cannot read fails the gets that need it, and no other', async () => {
  const { servers, statements } = damagedServers()
  const get = openGetBatch(servers, fiatAccount.full.table)
  const asked = tenants.map((tenant) => get({ tenant, id: anId(1), includeDeleted: false }))
  const results = await Promise.allSettled(asked)
  assert.deepEqual(
    results.map((result) => (result.status === 'rejected' ? result.reason.name : 'read')),
    ['read', 'StoreUnavailable', 'read'],
  )
  assert.equal(statements.length, 4)
})

test('it fails the pages of lists that need it, and no other', async () => {
  const { servers, statements } = damagedServers()
  const page = openPageBatch(servers, fiatAccount.brief.resource, 'ASC')
  const asked = tenants.map((tenant) => page({ tenant, selection: { ...firstPage, limit: 5 } }))
  const results = await Promise.allSettled(asked)
  assert.deepEqual(
    results.map((result) => (result.status === 'rejected' ? result.reason.name : 'read')),
    ['read', 'StoreUnavailable', 'read'],
  )
  assert.equal(statements.length, 4)
})

test('it fails the past pages that need it, and no other', async () => {
  const { servers, statements } = damagedServers()
  const read = openPastBatches(servers)
  const { resource } = fiatAccount.brief
  const selection = { ...firstPage, limit: 5, asOf: 1n }
  const asked = tenants.map((tenant) => read({ resource, tenant, view: 'customer', selection }))
  const results = await Promise.allSettled(asked)
  assert.deepEqual(
    results.map((result) => (result.status === 'rejected' ? result.reason.name : 'read')),
    ['read', 'StoreUnavailable', 'read'],
  )
  assert.equal(statements.length, 4)
})
