import type { Resource } from '../../../contract/resource.ts'
import type { KnownLine, RecordLoad } from '../../records/import.ts'
import {
  changedKnown,
  indexKnown,
  lastChangeOf,
  repeatsKnown,
} from '../../sql/import/known-lines.ts'
import { readSourceRow, rowsOfIdsQuery } from '../../sql/integrity/stored-row-queries.ts'
import { mergeStatements } from '../../sql/merge-statements.ts'
import type { Servers } from '../cluster/servers.ts'
import { type Connection, textArray } from '../driver/connection.ts'
import { dialect } from './merge-dialect.ts'

export type KnownLines = Pick<RecordLoad, 'isFirst' | 'stored'> & {
  note(lines: readonly KnownLine[]): Promise<void>
  /** Conflicts of staged records with known lines, for after the last one. */
  conflicts(): Promise<readonly string[]>
  /** Whether a known record was changed since. In the transaction of the merge. */
  areChanged(): Promise<boolean>
}

/** Looks records up in other sessions, because COPY keeps the one of the import. */
export async function openKnownLines(
  servers: Servers,
  connection: Connection,
  resource: Resource,
): Promise<KnownLines> {
  const { tableName } = dialect
  const find = rowsOfIdsQuery(resource, tableName, '= any($1::uuid[])')
  const scalar = async (text: string) => String((await connection.query({ text }))[0]?.[0] ?? '')
  const begunAt = await scalar(lastChangeOf(resource, tableName))
  let count = 0
  return {
    isFirst: begunAt === '',
    stored: async (ids) => {
      const rows = await servers.rows({ text: find, values: [textArray(ids)], prepare: true })
      return rows.map((row) => readSourceRow(resource, row))
    },
    note: async (lines) => {
      count += lines.length
      const column = (read: (line: KnownLine) => unknown) =>
        textArray(lines.map((line) => String(read(line))))
      await connection.query({
        text: `insert into known
          select * from unnest($1::int[], $2::bigint[], $3::uuid[], $4::bigint[])`,
        values: [
          ...[column(({ file }) => file), column(({ line }) => line)],
          ...[column(({ id }) => id), column(({ digest }) => digest)],
        ],
        prepare: true,
      })
    },
    conflicts: async () => {
      if (count === 0) return []
      await connection.execute(`${indexKnown}; analyze known`)
      return [repeatsKnown(mergeStatements(resource, dialect))]
    },
    areChanged: async () => {
      if (count === 0 || (await scalar(lastChangeOf(resource, tableName))) === begunAt) return false
      return (await scalar(changedKnown(resource, tableName))) !== '0'
    },
  }
}
