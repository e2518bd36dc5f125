import { fullTable, type Resource } from '../../contract/resource.ts'

/** What the two stores spell differently in the statements of a merge; the rest is SQL that both understand. */
export type MergeDialect = {
  /** The temporary table of staged records. */
  readonly staged: string
  /** `fiat_account` as the store knows it. */
  readonly table: (name: string) => string
  /** Names the index that serves a join, where the planner would not be trusted to find it. */
  readonly by: (index: string) => string
  /** The time of the merge, a parameter. */
  readonly now: string
}

/** True of every row. On PostgreSQL the identities' indexes serve only statements that say so (0001-records.sql). */
const always = 'k.stored_at >= 0'
export const sameRecord = `k.id = s.id and ${always}`

/** Columns of a staged record that make its content; `full_body` is the record in full, masked or not. */
export function contentColumns(resource: Resource): string[] {
  return [
    'customer_id',
    'id',
    'position',
    ...memberColumns(resource),
    'full_body',
    'deleted_at',
    'updated_at',
    'source_version',
  ]
}

function memberColumns(resource: Resource): string[] {
  const exclusiveKey = resource.exclusive === undefined ? [] : ['exclusive_key']
  return [...new Set(['ref_id', ...Object.values<string>(resource.columns), ...exclusiveKey])]
}

type ConflictQueries = {
  /** Empty where no id stands twice. */
  readonly sameIdTwice: string
  readonly withinFile: readonly string[]
  readonly withStore: readonly string[]
  readonly older: string
}

/** Each query answers (line, member, reason), one row for each staged record that cannot be taken. */
export function conflictQueries(resource: Resource, dialect: MergeDialect): ConflictQueries {
  const { table, noun, uniqueMembers, exclusive, orderBy } = resource
  const clash = clashIn(dialect)
  const repeated = repeatedIn(dialect)
  // A stored record that the same file replaces does not stand in anyone's way.
  const notReplaced = `not exists (select 1 from ${dialect.staged} as r where r.id = k.id)`
  const shared = exclusive?.members.join(' and ') ?? ''
  return {
    sameIdTwice: sameIdTwice(resource, dialect),
    withinFile: [
      repeated('customer_id, ref_id', 'ref_id', 'where ref_id is not null', 'id'),
      ...uniqueMembers.map((member) => repeated(member, member, '', 'id')),
      ...(exclusive === undefined ? [] : [repeated('exclusive_key', shared, '', 'customer_id')]),
    ],
    withStore: [
      clash('id', 'is taken; ids are unique over all customers', `${table}_identity`, {
        table,
        on: `${sameRecord} and k.customer_id <> s.customer_id`,
      }),
      clash(orderBy, 'must stay as it was first stored', `${table}_identity`, {
        table,
        on: `${sameRecord} and k.customer_id = s.customer_id and k.position <> s.position`,
      }),
      clash(
        'ref_id',
        `is already the ref_id of another ${noun} of this customer`,
        `${table}_by_ref_id`,
        {
          table,
          on: `k.customer_id = s.customer_id and k.ref_id = s.ref_id and k.id <> s.id and ${notReplaced}`,
        },
      ),
      ...uniqueMembers.map((member) =>
        clash(member, 'is taken; it is unique over all customers', `${table}_${member}_identity`, {
          table,
          on: `k.${member} = s.${member} and ${always} and k.id <> s.id and ${notReplaced}`,
        }),
      ),
      ...(exclusive === undefined
        ? []
        : [
            clash(shared, 'belong to another customer', `${table}_exclusive_key`, {
              table,
              on: `k.exclusive_key = s.exclusive_key and k.customer_id <> s.customer_id and ${notReplaced}`,
            }),
          ]),
    ],
    older: `
      select s.line, case when k.source_version is null then 'updated_at' else 'source_version' end as member,
        'is older than what is stored; --allow-older takes it all the same' as reason
      from ${dialect.staged} as s cross join ${dialect.table(table)} as k ${dialect.by(`${table}_identity`)}
      where ${sameRecord} and case
        when k.source_version is not null then coalesce(s.source_version, -1) < k.source_version
        else s.updated_at < k.updated_at end`,
  }
}

const clashIn =
  (dialect: MergeDialect) =>
  (
    member: string,
    reason: string,
    index: string,
    { table, on }: { table: string; on: string },
  ): string =>
    `
    select distinct s.line, '${member}' as member, '${reason}' as reason
    from ${dialect.staged} as s cross join ${dialect.table(table)} as k ${dialect.by(index)} where ${on}`

function sameIdTwice(resource: Resource, { staged }: MergeDialect): string {
  const differs = [...contentColumns(resource), 'keeps_deletion']
    .map((column) => `b.${column} is distinct from a.${column}`)
    .join(' or ')
  return `
    select b.line, 'id' as member, 'stands in line ' || a.line || ' too, with other content' as reason
    from ${staged} as a join ${staged} as b on b.id = a.id and b.sequence > a.sequence
    where a.sequence = (select min(sequence) from ${staged} where id = a.id) and (${differs})`
}

/** Rows of one file that repeat `key` although they differ in `by`; names the first line beside the later one. */
const repeatedIn =
  ({ staged }: MergeDialect) =>
  (key: string, member: string, where: string, by: string): string => {
    const same = key
      .split(', ')
      .map((column) => `s.${column} = g.${column}`)
      .join(' and ')
    const whose = by === 'id' ? 'another record' : "another customer''s record"
    return `
    select s.line, '${member}' as member, 'stands in line ' || g.first || ' too, in ${whose}' as reason
    from (
      select ${key}, min(line) as first, min(sequence) as first_sequence from ${staged} ${where}
      group by ${key} having count(distinct ${by}) > 1
    ) as g join ${staged} as s on ${same} and s.sequence > g.first_sequence`
  }

type MergeStatements = {
  /** For records of which some are stored already. */
  readonly replacing: {
    readonly keepDeletions: string
    readonly count: string
    readonly dropUnchanged: string
    /** Moves what will be replaced out of the way. */
    readonly supersede: readonly string[]
  }
  readonly insert: readonly string[]
}

/** What merges the staged records; they have passed every check of `conflictQueries`. */
export function mergeStatements(resource: Resource, dialect: MergeDialect): MergeStatements {
  const { kind, mask, deletable } = resource
  const { staged, now } = dialect
  const table = dialect.table(resource.table)
  const full = dialect.table(fullTable(resource))
  const byIdentity = dialect.by(`${resource.table}_identity`)
  const same = ['deleted_at', 'updated_at', 'source_version'].map(
    (c) => `k.${c} is not distinct from s.${c}`,
  )
  const stored =
    mask === undefined
      ? `${table} as k ${byIdentity}`
      : `${table} as k ${byIdentity} cross join ${full} as f`
  const fullBody = mask === undefined ? 'k.body' : 'f.body'
  const joined = mask === undefined ? '' : 'and f.customer_id = k.customer_id and f.id = k.id'
  const unchanged = `
    select s.sequence from ${staged} as s cross join ${stored}
    where ${sameRecord} ${joined} and ${fullBody} = s.full_body and ${same.join(' and ')}`
  const written = {
    customer_id: 'customer_id',
    deleted: 'deleted_at is not null',
    position: 'position',
    id: 'id',
    ...Object.fromEntries(memberColumns(resource).map((member) => [member, member])),
    body: mask === undefined ? 'full_body' : 'masked',
    deleted_at: 'deleted_at',
    updated_at: 'updated_at',
    source_version: 'source_version',
    stored_at: now,
  }
  const replaced = `${staged} as s cross join ${table} as k ${byIdentity} where ${sameRecord}`
  const replacing = {
    keepDeletions: !deletable
      ? ''
      : `
      update ${staged} as s set deleted_at = (select k.deleted_at from ${table} as k where ${sameRecord})
      where keeps_deletion = 1 and exists (select 1 from ${table} as k where ${sameRecord} and k.deleted = true)`,
    count: `
      with u as (${unchanged}), k as (
        select count(*) as n from ${replaced}
      )
      select (select count(*) from ${staged}) - k.n as added, k.n - (select count(*) from u) as changed,
        (select count(*) from u) as unchanged
      from k`,
    dropUnchanged: `delete from ${staged} where sequence in (${unchanged})`,
    supersede: [
      `insert into ${dialect.table('superseded')}
       select '${kind}', k.customer_id, k.id, k.stored_at, ${now}, ${fullBody}, k.deleted_at, k.source_version
       from ${staged} as s cross join ${stored} where ${sameRecord} ${joined}`,
      `delete from ${table} where (customer_id, deleted, position) in (
         select k.customer_id, k.deleted, k.position from ${replaced})`,
      ...(mask === undefined
        ? []
        : [
            `delete from ${full} where (customer_id, id) in (select customer_id, id from ${staged})`,
          ]),
    ],
  }
  return {
    replacing,
    // In the order of the tables' keys, so that their pages are filled one after the other.
    insert: [
      `insert into ${table} (${Object.keys(written).join(', ')})
       select ${Object.values(written).join(', ')} from ${staged}
       order by customer_id, deleted_at is not null, position`,
      `insert into ${dialect.table('revision')} as r select distinct customer_id, '${kind}', ${now} from ${staged} where true
       on conflict (customer_id, kind)
       do update set changed_at = case when excluded.changed_at > r.changed_at
         then excluded.changed_at else r.changed_at + 1 end`,
      ...(mask === undefined
        ? []
        : [
            `insert into ${full} (customer_id, id, deleted, body)
             select customer_id, id, deleted_at is not null, full_body from ${staged}
             order by customer_id, id`,
          ]),
    ],
  }
}
