import type { RecordKind } from '../../contract/resource.ts'
import { largest } from '../../money/bounds.ts'
import type { CustomerDoor, Page } from '../store.ts'
import type { Row } from './connection.ts'
import { type GetOne, openGetBatch } from './get-batch.ts'
import { pageQuery } from './page-query.ts'
import type { Servers } from './servers.ts'

/** The customers' door on PostgreSQL: every statement sets the wall to its tenant and looks up by the same. */
export function customerDoor(servers: Servers): CustomerDoor {
  const batches = new Map<RecordKind, GetOne>()
  return {
    get: (tenant, { resource }, id, reveal) => {
      const batch = batches.get(resource.kind) ?? openGetBatch(servers, resource)
      batches.set(resource.kind, batch)
      return batch(tenant, id, reveal)
    },
    page: (tenant, { resource }, selection) =>
      servers.read(
        async (connection, server) => {
          const [row] = await connection.query(pageQuery(resource, tenant, selection))
          const page = readPage(row)
          server.reached(page.logPosition)
          // A walk never forgets how far it has seen, also where a promotion has cut the log short.
          return { ...page, logPosition: largest(page.logPosition, selection.notBefore ?? 0n) }
        },
        { notBefore: selection.notBefore },
      ),
  }
}

const NO_ITEMS = new Uint8Array(0)

function readPage(row: Row | undefined): Page & { readonly logPosition: bigint } {
  const [items, rows, last, more, revision, logPosition] = row ?? []
  return {
    items: items ?? NO_ITEMS,
    rows: Number(rows),
    // The text form of bytes: \x and two digits for each.
    last: last == null ? undefined : Buffer.from(last.toString('latin1', 2), 'hex'),
    more: String(more) === 't',
    revision: Number(revision ?? 0),
    logPosition: BigInt(String(logPosition)),
  }
}
