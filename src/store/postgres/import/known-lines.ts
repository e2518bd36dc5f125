import type { Resource } from '../../../contract/resource.ts'
import type { KnownLine, RecordLoad } from '../../records/import.ts'
import type { Spool } from '../../spool.ts'
import {
  changedKnown,
  createKnown,
  indexKnown,
  knownColumns,
  lastChangeOf,
  repeatsKnown,
} from '../../sql/import/known-lines.ts'
import { readSourceRow, rowsOfIdsQuery } from '../../sql/integrity/stored-row-queries.ts'
import { mergeStatements } from '../../sql/merge-statements.ts'
import type { Servers } from '../cluster/servers.ts'
import { dialect } from '../dialect.ts'
import { type Connection, textArray } from '../driver/connection.ts'
import { copySpool } from './copy-spool.ts'

export type KnownLines = Pick<RecordLoad, 'isFirst' | 'stored'> & {
  note(lines: readonly KnownLine[]): Promise<void>
  /** Creates the table `known` of a transaction. Returns its conflicts with staged records. */
  stage(connection: Connection): Promise<readonly string[]>
  /** Whether a known record was changed since. In the transaction of the merge. */
  areChanged(connection: Connection): Promise<boolean>
}

/** Looks records up while the import is read, and keeps the known lines for the merge. */
export async function openKnownLines(
  servers: Servers,
  resource: Resource,
  spool: Spool,
): Promise<KnownLines> {
  const { tableName } = dialect
  const find = rowsOfIdsQuery(resource, tableName, '= any($1::uuid[])')
  const scalar = async ({ query }: Pick<Connection, 'query'>, text: string) =>
    String((await query({ text }))[0]?.[0] ?? '')
  const begunAt = await scalar(servers, lastChangeOf(resource, tableName))
  return {
    isFirst: begunAt === '',
    stored: async (ids) => {
      const rows = await servers.rows({ text: find, values: [textArray(ids)], prepare: true })
      return rows.map((row) => readSourceRow(resource, row))
    },
    note: async (lines) => {
      const rows = lines.map(({ file, line, id, digest }) => `${file}\t${line}\t${id}\t${digest}\n`)
      await spool.write(rows.join(''))
    },
    stage: async (connection) => {
      await connection.execute(`${createKnown('uuid')} on commit drop`)
      if (spool.isEmpty()) return []
      await copySpool(connection, 'known', knownColumns, spool)
      await connection.execute(`${indexKnown}; analyze known`)
      return [repeatsKnown(mergeStatements(resource, dialect))]
    },
    areChanged: async (connection) => {
      if (spool.isEmpty()) return false
      if ((await scalar(connection, lastChangeOf(resource, tableName))) === begunAt) return false
      return (await scalar(connection, changedKnown(resource, tableName))) !== '0'
    },
  }
}
