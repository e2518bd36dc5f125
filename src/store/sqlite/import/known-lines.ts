import type { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../../contract/resource.ts'
import type { RecordLoad } from '../../records/import.ts'
import {
  changedKnown,
  createKnown,
  indexKnown,
  lastChangeOf,
  repeatsKnown,
} from '../../sql/import/known-lines.ts'
import { readSourceRow, rowsOfIdsQuery } from '../../sql/integrity/stored-row-queries.ts'
import { mergeStatements } from '../../sql/merge-statements.ts'
import { openWithin, prepare } from '../database.ts'
import { dialect } from '../dialect.ts'

type KnownLines = {
  readonly methods: Pick<RecordLoad, 'isFirst' | 'stored' | 'noteKnown'>
  /** Conflicts of staged records with known lines, for after the last one. */
  conflicts(): readonly string[]
  /** Whether a known record was changed since. In the transaction of the merge. */
  areChanged(): boolean
  close(): void
}

/** Looks records up over a connection of its own, since the staging transaction lasts. */
export function openKnownLines(db: DatabaseSync, path: string, resource: Resource): KnownLines {
  const reader = openWithin(path, 0, { creates: 'never' })
  const find = prepare(reader, rowsOfIdsQuery(resource, dialect.tableName, '= ?'))
  const lastChange = db.prepare(lastChangeOf(resource, dialect.tableName))
  const changedAt = () => lastChange.get()?.changed_at ?? null
  const begunAt = changedAt()
  db.exec(createKnown('text'))
  const note = db.prepare('insert into known values (?, ?, ?, ?)')
  let lines = 0
  return {
    methods: {
      isFirst: begunAt === null,
      stored: async (ids) =>
        ids
          .map((id) => find.get(id))
          .filter((row) => row !== undefined)
          .map((row) => readSourceRow(resource, row)),
      noteKnown: async (known) => {
        lines += known.length
        for (const { file, line, id, digest } of known) note.run(file, line, id, digest)
      },
    },
    conflicts: () => {
      if (lines === 0) return []
      db.exec(indexKnown)
      return [repeatsKnown(mergeStatements(resource, dialect))]
    },
    areChanged: () => {
      if (lines === 0 || changedAt() === begunAt) return false
      const changed = db.prepare(changedKnown(resource, dialect.tableName)).get()
      return changed?.records !== 0
    },
    close: () => reader.close(),
  }
}
