import assert from 'node:assert/strict'
import type { AuditActor } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { ReadsPart, RecordRead, RecordReads } from '../record-reads.ts'
import { type NamedRow, text, whole } from '../row.ts'
import type { Reads } from '../session.ts'

/** Reads from the index of full views, over the sessions of an engine. */
export function openRecordReads({ rows }: Reads, dialect: Dialect): Pick<RecordReads, 'list'> {
  const query = readsQuery(dialect)
  return {
    list: async ({ customerId, kind, id, before, readsMax }: ReadsPart) => {
      const start = before ?? { at: FAR, number: FAR }
      const values = [customerId, kind, id, start.at, start.number, readsMax]
      return (await rows({ text: query, values, prepare: true })).map(readRow)
    },
  }
}

/** After every time and number. */
const FAR = 2n ** 62n

/** Both the record and the lists of its kind are ranges of one index, newest first. */
export function readsQuery({ auditTable, parameter, bounded }: Dialect): string {
  const [at, number] = [parameter(4, 'bigint'), parameter(5, 'bigint')]
  const page = `order by at desc, number desc limit ${parameter(6, 'bigint')}`
  const branch = (id: string) =>
    bounded(
      `select at, number, id, entry from ${auditTable('seen')}
        where customer = ${parameter(1, 'text')} and kind = ${parameter(2, 'text')} and id = ${id}
          and (at, number) < (${at}, ${number})`,
      page,
    )
  return `${branch(parameter(3, 'text'))}
      union all ${branch(`''`)}
      ${page}`
}

function readRow(row: NamedRow): RecordRead {
  const { action, actor, reason, rows } = parseSeen(text(row, 'entry'))
  return {
    at: whole(row, 'at'),
    number: whole(row, 'number'),
    action,
    actor,
    shown: text(row, 'id') === '' ? 'list' : 'record',
    rows: rows ?? undefined,
    reason: reason ?? undefined,
  }
}

type Seen = {
  readonly action: string
  readonly actor: AuditActor
  readonly reason?: string | null
  readonly rows?: number | null
}

/** The trigger copies members of an entry, which the program has written. */
function parseSeen(json: string): Seen {
  const seen = JSON.parse(json) as Seen
  assert(typeof seen.action === 'string' && typeof seen.actor.type === 'string')
  return seen
}
