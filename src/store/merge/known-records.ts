import { fullTable, isSealedKind, type Resource } from '../../contract/resource.ts'
import type { Dialect } from '../dialect.ts'
import { contentsOfIds, isLive } from '../integrity/record-content.ts'
import type { KnownRecord, RecordLoad } from '../records/import.ts'
import { isTrue, type NamedRow, optionalText, text } from '../row.ts'
import type { Seals } from '../sealing/seals.ts'
import type { Reads, Session } from '../session.ts'
import { stageStored } from './merge-statements.ts'

type KnownRecords = Pick<RecordLoad, 'isFirst' | 'stored'> & {
  /** Whether a known record was changed since. In the transaction of the merge. */
  areChanged(session: Reads): Promise<boolean>
  /**
   * Stages the known lines after all, for a merge to which they matter: a conflict names the lines
   * of both records, and a record must not lose a value to another line of its own file.
   */
  stageAll(session: Session): Promise<void>
}

/** Looks records up while an import is read, so that it need not stage those that are stored. */
export async function openKnownRecords(
  reader: Reads,
  resource: Resource,
  { dialect, seals }: { readonly dialect: Dialect; readonly seals: Seals },
): Promise<KnownRecords> {
  const find = contentsOfIds(resource, dialect)
  const stageAll = `${stageKnown(resource, dialect)}; delete from known`
  const begunAt = await lastChangeOf(reader, resource, dialect)
  return {
    isFirst: begunAt === undefined,
    stored: async (ids) => {
      const rows = await reader.rows({ text: find, values: [dialect.list(ids)], prepare: true })
      if (!isSealedKind(resource)) return rows.map((row) => readKnown(row))
      const known: KnownRecord[] = []
      for (const row of rows) {
        const [id, customerId] = [text(row, 'id'), optionalText(row, 'customer_id') ?? '']
        const [body, checksum] = [optionalText(row, 'full_body'), Number(row.full_checksum)]
        if (body === undefined) continue
        const opened = await seals.open(resource, { customerId, id, body, checksum })
        // A line is not known if what is stored is damaged, so that it mends the record.
        if ('body' in opened) known.push(readKnown(row, (await seals.keyOf(customerId)).digesting))
      }
      return known
    },
    areChanged: async (session) => {
      if ((await lastChangeOf(session, resource, dialect)) === begunAt) return false
      return await holds(session, changedKnown(resource, dialect))
    },
    stageAll: (session) => session.run(stageAll),
  }
}

const readKnown = (row: NamedRow, key?: Uint8Array): KnownRecord => ({
  key,
  id: text(row, 'id'),
  customerId: optionalText(row, 'customer_id') ?? '',
  content: text(row, 'content'),
  sourceDigest: typeof row.digest === 'bigint' ? row.digest : null,
})

/**
 * A text that every change of a record of the kind changes. The times of one customer only rise;
 * the sum of all has two parts, because it would not fit into a whole number.
 */
async function lastChangeOf({ rows }: Reads, { kind }: Resource, { tableName }: Dialect) {
  const [row = {}] = await rows({
    text: `select sum(changed_at / 1000000) || ' ' || sum(changed_at % 1000000) as changed_at
      from ${tableName('revision')} where kind = '${kind}'`,
  })
  return optionalText(row, 'changed_at')
}

/** Whether a query with one row, and one column of this name, says so. */
export async function holds({ rows }: Reads, text: string): Promise<boolean> {
  const [row] = await rows({ text })
  return isTrue(row?.holds)
}

const changedKnown = ({ table }: Resource, { tableName, listedId }: Dialect): string => `
  select count(*) > 0 as holds from known left join ${tableName(table)} as stored
    on ${listedId.is('stored', 'known.id')} and ${isLive}
  where stored.source_digest is null or stored.source_digest <> known.digest`

/** Their lines store what is stored. The first bit of the digest is `keeps_deletion`. */
function stageKnown(resource: Resource, dialect: Dialect): string {
  const { tableName, listedId } = dialect
  const staged = stageStored(resource, dialect, {
    sequence: 'known.sequence',
    line: 'known.line',
    file: 'known.file',
    raw: 'known.raw',
    deletedAt: 'null',
    keepsDeletion: 'known.digest & 1',
    idTaken: '0',
    isLoser: '0',
  })
  const full = tableName(fullTable(resource))
  const ofFull = `stored_full.customer = stored.customer and stored_full.id = ${listedId.of('stored')}`
  return `${staged}
    from known join ${tableName(resource.table)} as stored
      on ${listedId.is('stored', 'known.id')} and ${isLive}
    ${resource.mask === undefined ? '' : `join ${full} as stored_full on ${ofFull}`}
    where true`
}

/** Whether a staged record has the id of a known line. */
export const repeatsKnown =
  'select exists (select 1 from staged_line join known on known.id = staged_line.id) as holds'
