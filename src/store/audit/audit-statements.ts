import type { AuditAnchor, AuditLine, AuditPart, AuditPlace } from '../audit.ts'
import { type Dialect, openParameters } from '../dialect.ts'
import { type NamedRow, text, whole } from '../row.ts'
import type { Statement } from '../session.ts'

const columns = 'chain, sequence, at, key_id, body, digest'

/** Adds lines. The text is the same for every number of them. */
export function insertLines(dialect: Dialect, lines: readonly AuditLine[]): Statement {
  const { auditTable, unnest, list, durably } = dialect
  const added = unnest('added', {
    chain: 'text[]',
    sequence: 'bigint[]',
    at: 'bigint[]',
    key_id: 'text[]',
    body: 'text[]',
    digest: 'text[]',
  })
  return {
    text: `insert into ${auditTable('line')} (${columns})
      select ${columns} from ${added}${durably}`,
    values: [
      list(lines.map(({ chain }) => chain)),
      list(lines.map(({ sequence }) => Number(sequence))),
      list(lines.map(({ at }) => Number(at))),
      list(lines.map(({ keyId }) => keyId)),
      list(lines.map(({ body }) => body)),
      list(lines.map(({ digest }) => digest)),
    ],
    prepare: true,
  }
}

/** The statements of those who read the log and delete what need not be kept. */
export function auditStatements(dialect: Dialect) {
  const [lines, anchors] = [dialect.auditTable('line'), dialect.auditTable('anchor')]
  const seen = dialect.auditTable('seen')
  return {
    inTime: ({ since, until, after, newestFirst, linesMax }: AuditPart): Statement => {
      const parameters = openParameters(dialect)
      const conditions: string[] = []
      if (since !== undefined) conditions.push(`at >= ${parameters.add(since, 'bigint')}`)
      if (until !== undefined) conditions.push(`at < ${parameters.add(until, 'bigint')}`)
      if (after !== undefined) {
        const place = [
          parameters.add(after.at, 'bigint'),
          parameters.add(after.chain, 'text'),
          parameters.add(after.sequence, 'bigint'),
        ]
        conditions.push(`(at, chain, sequence) ${newestFirst ? '<' : '>'} (${place.join(', ')})`)
      }
      const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
      const direction = newestFirst ? 'desc' : 'asc'
      const order = ['at', 'chain', 'sequence'].map((column) => `${column} ${direction}`)
      const most = parameters.add(linesMax, 'bigint')
      const text = `select ${columns} from ${lines} ${where} order by ${order.join(', ')} limit ${most}`
      return { text, values: parameters.values }
    },
    after: ({ chain, sequence }: AuditPlace, linesMax: number): Statement => ({
      text: `select ${columns} from ${lines}
        where (chain, sequence) > (${dialect.parameter(1, 'text')}, ${dialect.parameter(2, 'bigint')})
        order by chain, sequence limit ${dialect.parameter(3, 'bigint')}`,
      values: [chain, sequence, linesMax],
    }),
    find: ({ chain, sequence }: AuditPlace): Statement => ({
      text: `select ${columns} from ${lines} where chain = $1 and sequence = $2`,
      values: [chain, sequence],
      prepare: true,
    }),
    anchor: (chain: string): Statement => ({
      text: `select chain, sequence, digest, key_id, seal from ${anchors} where chain = $1`,
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
    setAnchor: ({ chain, sequence, digest, keyId, seal }: AuditAnchor): Statement => ({
      text: `insert into ${anchors} (chain, sequence, digest, key_id, seal)
        values ($1, $2, $3, $4, $5)
        on conflict (chain) do update set sequence = excluded.sequence,
          digest = excluded.digest, key_id = excluded.key_id, seal = excluded.seal`,
      values: [chain, sequence, digest, keyId, seal],
    }),
  }
}

export const readLine = (row: NamedRow): AuditLine => ({
  chain: text(row, 'chain'),
  sequence: whole(row, 'sequence'),
  at: whole(row, 'at'),
  keyId: text(row, 'key_id'),
  body: text(row, 'body'),
  digest: text(row, 'digest'),
})

export const readAnchor = (row: NamedRow): AuditAnchor => ({
  chain: text(row, 'chain'),
  sequence: whole(row, 'sequence'),
  digest: text(row, 'digest'),
  keyId: text(row, 'key_id'),
  seal: text(row, 'seal'),
})
