import { fullTable, resources } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { emptyAnswers, emptyFiles } from '../imports/import-statements.ts'
import { removeTermRows } from '../schema/record-terms.ts'

/** Rows of a customer, or of its clients, in one table. */
export type RowSet = {
  readonly of: 'customer' | 'clients'
  /** Deletes a bounded number of them. The parameters are the owner and the number. */
  readonly erase: string
  /** Finds one. The parameter is the owner. */
  readonly isLeft: string
  readonly count: string
}

export type EraseStatements = ReturnType<typeof eraseStatements>

export function eraseStatements(dialect: Dialect) {
  return {
    ...rowSets(dialect),
    ...ownerStatements(dialect),
    eraseTerms: removeTermRows(dialect),
    countBefore: (versionsMax: number) => countBefore(dialect, versionsMax),
  }
}

/** Counts the versions that were stored before a time, of the first ones of each kind. */
function countBefore({ tableName, parameter }: Dialect, versionsMax: number): string {
  const customer = `(select number from ${tableName('customer')} where id = ${parameter(1, 'text')})`
  const first = (table: string, condition: string) => `
    select stored_at from (select stored_at from ${tableName(table)}
      where customer = ${customer} ${condition} and change > 0
      order by change limit ${versionsMax}) as first_of_kind`
  const sources = resources.flatMap(({ kind, table }) => [
    first(table, ''),
    first('history', `and kind = '${kind}'`),
  ])
  return `select count(*) as count
    from (${[...sources, first('fee_event', '')].join(' union all ')}) as stored
    where stored_at < ${parameter(2, 'bigint')}`
}

/** What is deleted, in this order. */
function rowSets(dialect: Dialect) {
  const { listedId, hex, joined, jsonTexts } = dialect
  const kinds = resources.map((resource) => {
    const { table, mask, terms, uniqueMembers, exclusive } = resource
    const ofTerms = terms === undefined ? '' : `, terms, ${hex('position')} as place`
    const ofValues = [
      ...uniqueMembers,
      ...(exclusive === undefined
        ? []
        : [
            'exclusive_key',
            `(select ${joined('network.value', ' ')}
          from ${jsonTexts('body', exclusive.networks, 'network')}) as networks`,
          ]),
    ]
    const returns = [`${listedId.of(table)} as id`, 'deleted', ...ofValues].join(', ') + ofTerms
    return {
      resource,
      listed: rowSet(dialect, table, 'customer, deleted, position', { returns }),
      full: mask === undefined ? undefined : rowSet(dialect, fullTable(resource), 'customer, id'),
    }
  })
  // A pruning may hold some of them and wait for what this transaction holds, so they are skipped.
  const versions = rowSet(dialect, 'history', 'customer, kind, id, stored_at')
  // Only writers that hold the customer's row change those that wait.
  const feeEvents = rowSet(dialect, 'fee_event', 'customer, change', { waits: true })
  const others = [
    rowSet(dialect, 'extent', 'customer, kind, changed_at', { waits: true }),
    rowSet(dialect, 'customer_name', 'customer', { waits: true }),
    rowSet(dialect, 'customer_term', 'customer, place', { waits: true }),
    rowSet(dialect, 'former_value', 'customer, kind, member, value, position'),
  ]
  const answers = emptyAnswers(dialect)
  const ofKinds = kinds.flatMap(({ listed, full }) =>
    full === undefined ? [listed] : [listed, full],
  )
  const all = [...ofKinds, versions, feeEvents, ...others, answers]
  return { kinds, versions, feeEvents, others, answers, all }
}

type SetOptions = {
  /** Whether it waits for rows that others have locked, instead of skipping them. */
  readonly waits?: boolean
  readonly returns?: string
}

function rowSet(
  { tableName, parameter, forUpdate }: Dialect,
  table: string,
  key: string,
  { waits = false, returns = '1' }: SetOptions = {},
): RowSet {
  const name = tableName(table)
  const isOwn = `customer = ${parameter(1, 'integer')}`
  return {
    of: 'customer',
    erase: `delete from ${name} where (${key}) in (
        select ${key} from ${name} where ${isOwn}
        order by ${key} limit ${parameter(2, 'bigint')} ${waits ? '' : forUpdate('skip')})
        returning ${returns}`,
    isLeft: `select 1 from ${name} where ${isOwn} limit 1`,
    count: `select count(*) as count from ${name} where ${isOwn}`,
  }
}

/** What concerns the customer as a whole. The first parameter is its number or its id. */
function ownerStatements(dialect: Dialect) {
  const { tableName, parameter, isAnyOf, forUpdate, random } = dialect
  const names = ['customer', 'change_log', 'change_state', 'kept_since', 'revision', 'customer_key']
  const [customer, log, state, kept, revision, keys] = names.map(tableName)
  const isOwn = `customer = ${parameter(1, 'integer')}`
  const id = parameter(1, 'text')
  const [second, third] = [parameter(2, 'bigint'), parameter(3, 'bigint')]
  return {
    findOwner: `select number from ${customer} where id = ${id}`,
    lockOwner: `select changes from ${customer} where id = ${id} ${forUpdate('wait')}`,
    head: `select seq from ${tableName('change_head')}`,
    lastChange: `select max(changed_at) as changed_at from ${revision} where ${isOwn}`,
    count: `update ${customer} set changes = ${second} where number = ${parameter(1, 'integer')}`,
    noteListed: `update ${state} set listed = ${second}, is_due = false where ${isOwn}`,
    noteKept: `insert into ${kept} as kept (customer, at, pruned, kind)
      values (${parameter(1, 'integer')}, ${second}, ${third}, ${parameter(4, 'text')})
      on conflict (customer, kind) do update set at = excluded.at, pruned = excluded.pruned`,
    emptyEntries: `update ${log} set high = low
      where ${isOwn} and seq > ${second} and seq <= ${third} and high > low`,
    raiseRevisions: `update ${revision} set changed_at = ${second}, salt = ${random} where ${isOwn}`,
    countErased: `update ${revision} set live = live - ${second} where ${isOwn} and kind = ${parameter(3, 'text')}`,
    erasePairs: (full: string) => `delete from ${tableName(full)}
      where ${isOwn} and ${isAnyOf('id', parameter(2, 'uuid[]'))}`,
    countKeys: `select count(*) as count from ${keys} where customer_id = ${id}`,
    emptyFiles: emptyFiles(dialect),
    eraseReseal: `delete from ${tableName('reseal')} where customer_id = ${id}`,
    keyIds: `select id from ${keys} where customer_id = ${id}`,
    eraseKeys: `delete from ${keys}
      where customer_id = ${id} and ${isAnyOf('id', parameter(2, 'text[]'))} returning 1`,
  }
}
