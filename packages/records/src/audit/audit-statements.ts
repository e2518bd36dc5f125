import { isUtf8 } from 'node:buffer'
import type {
  AuditAnchor,
  AuditHead,
  AuditLine,
  AuditPart,
  AuditPlace,
  ReadLine,
} from '../audit.ts'
import { type Dialect, openParameters } from '../dialect.ts'
import { type NamedRow, text, whole } from '../row.ts'
import type { Statement, Value } from '../session.ts'

const types = {
  chain: 'text',
  sequence: 'integer',
  at: 'integer',
  key_id: 'text',
  body: 'text',
  digest: 'text',
} as const

const columns = Object.keys(types).join(', ')

/** Adds lines. The text is the same for every number of them. */
export const insertLines = (dialect: Dialect, lines: readonly AuditLine[]): Statement => ({
  text: `insert into ${dialect.auditTable('line')} (${columns})
    select ${columns} from ${added(dialect)}`,
  values: listsOf(dialect, lines),
  prepare: true,
})

/** How many of these very lines are stored, for a writer that may read them. */
export const countLines = (dialect: Dialect, lines: readonly AuditLine[]): Statement => ({
  text: `select count(*) as stored from ${added(dialect)}
    cross join ${dialect.auditTable('line')} as line
    where ${Object.keys(types)
      .map((column) => `line.${column} = added.${column}`)
      .join(' and ')}`,
  values: listsOf(dialect, lines),
  prepare: true,
})

/**
 * The last lines of the chains that were written to last, since a time, for a writer that may read
 * lines. Of a log that grows by thousands of lines a second, only the newest are looked at.
 */
export const headsSince = (dialect: Dialect, since: bigint, chainsMax: number): Statement => ({
  text: `select chain, sequence, digest from ${dialect.auditTable('line')}
    where (chain, sequence) in (
      select chain, max(sequence) from (
        select chain, sequence, at from ${dialect.auditTable('line')}
        where ${dialect.hasTypes(types)} and at >= $1 order by at desc limit 50000
      ) as recent
      group by chain order by max(at) desc limit $2
    )`,
  values: [since, chainsMax],
})

const added = ({ unnest }: Dialect): string =>
  unnest('added', {
    chain: 'text[]',
    sequence: 'bigint[]',
    at: 'bigint[]',
    key_id: 'text[]',
    body: 'text[]',
    digest: 'text[]',
  })

/** A list for each column of the lines. */
export const listsOf = ({ list }: Dialect, lines: readonly AuditLine[]): readonly Value[] => [
  list(lines.map(({ chain }) => chain)),
  list(lines.map(({ sequence }) => Number(sequence))),
  list(lines.map(({ at }) => Number(at))),
  list(lines.map(({ keyId }) => keyId)),
  list(lines.map(({ body }) => body)),
  list(lines.map(({ digest }) => digest)),
]

/** The statements of those who read the log and delete what need not be kept. */
export function auditStatements(dialect: Dialect) {
  const [lines, anchors] = [dialect.auditTable('line'), dialect.auditTable('anchor')]
  const seen = dialect.auditTable('seen')
  const marks = dialect.auditTable('client_mark')
  const isLine = dialect.hasTypes(types)
  const { at: _at, body: _body, ...shared } = types
  const isAnchor = dialect.hasTypes({ ...shared, seal: 'text' })
  // SQLite stores bytes that are no text in a column of text, and the driver replaces them.
  const exactly = Object.entries(types).map(([column, type]) =>
    type === 'text' ? `${dialect.longText(column)} as ${column}` : column,
  )
  const selectLines = `select ${exactly.join(', ')} from ${lines} where ${isLine}`
  const chainOf = ({ chain, chainBytes }: AuditPlace) => chainBytes ?? chain
  return {
    inTime: ({ since, until, after, newestFirst, linesMax }: AuditPart): Statement => {
      const parameters = openParameters(dialect)
      const conditions: string[] = []
      if (since !== undefined) conditions.push(`at >= ${parameters.add(since, 'bigint')}`)
      if (until !== undefined) conditions.push(`at < ${parameters.add(until, 'bigint')}`)
      if (after !== undefined) {
        const place = [
          parameters.add(after.at, 'bigint'),
          `cast(${parameters.add(chainOf(after), 'text')} as text)`,
          parameters.add(after.sequence, 'bigint'),
        ]
        conditions.push(`(at, chain, sequence) ${newestFirst ? '<' : '>'} (${place.join(', ')})`)
      }
      const where = conditions.map((condition) => ` and ${condition}`).join('')
      const direction = newestFirst ? 'desc' : 'asc'
      const order = ['at', 'chain', 'sequence'].map((column) => `${column} ${direction}`)
      const most = parameters.add(linesMax, 'bigint')
      const text = `${selectLines}${where} order by ${order.join(', ')} limit ${most}`
      return { text, values: parameters.values }
    },
    after: (place: AuditPlace | undefined, linesMax: number): Statement => {
      const { add, values } = openParameters(dialect)
      const most = add(linesMax, 'bigint')
      const behind =
        place &&
        ` and (chain, sequence) > (cast(${add(chainOf(place), 'text')} as text), ${add(place.sequence, 'bigint')})`
      const text = `${selectLines}${behind ?? ''} order by chain, sequence limit ${most}`
      return { text, values }
    },
    strays: (): Statement => ({
      text: `select count(*) as strays from ${lines} where not (${isLine})`,
    }),
    find: ({ chain, sequence }: AuditPlace): Statement => ({
      text: `${selectLines} and chain = $1 and sequence = $2`,
      values: [chain, sequence],
      prepare: true,
    }),
    anchor: (chain: string): Statement => ({
      text: `select chain, sequence, digest, key_id, seal from ${anchors}
        where chain = $1 and ${isAnchor}`,
      values: [chain],
      prepare: true,
    }),
    deleteUpTo: ({ chain, sequence }: AuditPlace): Statement => ({
      text: `delete from ${lines} where chain = $1 and sequence <= $2`,
      values: [chain, sequence],
    }),
    deleteSeenUpTo: ({ chain, sequence }: AuditPlace): Statement => ({
      text: `delete from ${seen} where chain = $1 and sequence <= $2`,
      values: [chain, sequence],
    }),
    deleteOlderMarks: {
      text: `delete from ${marks} where number < (
        select max(number) from ${marks} as later where later.client_id = ${marks}.client_id)`,
    } satisfies Statement,
    deleteTokenEnds: (before: bigint): Statement => ({
      text: `delete from ${dialect.auditTable('token_end')} where expires_at < $1`,
      values: [before],
    }),
    setAnchor: ({ chain, sequence, digest, keyId, seal }: AuditAnchor): Statement => ({
      text: `insert into ${anchors} (chain, sequence, digest, key_id, seal)
        values ($1, $2, $3, $4, $5)
        on conflict (chain) do update set sequence = excluded.sequence,
          digest = excluded.digest, key_id = excluded.key_id, seal = excluded.seal`,
      values: [chain, sequence, digest, keyId, seal],
    }),
  }
}

export function readLine(row: NamedRow): ReadLine {
  let isLegible = true
  const legible = (column: string): string => {
    const value = row[column]
    if (!(value instanceof Uint8Array)) return text(row, column)
    isLegible &&= isUtf8(value)
    return decoder.decode(value)
  }
  const line: AuditLine = {
    chain: legible('chain'),
    sequence: whole(row, 'sequence'),
    at: whole(row, 'at'),
    keyId: legible('key_id'),
    body: legible('body'),
    digest: legible('digest'),
  }
  const { chain } = row
  return { ...line, ...(chain instanceof Uint8Array && { chainBytes: chain }), isLegible }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export const readHead = (row: NamedRow): AuditHead => ({
  chain: text(row, 'chain'),
  sequence: whole(row, 'sequence'),
  digest: text(row, 'digest'),
})

export const readAnchor = (row: NamedRow): AuditAnchor => ({
  ...readHead(row),
  keyId: text(row, 'key_id'),
  seal: text(row, 'seal'),
})
