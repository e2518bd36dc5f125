import { commandHint, type Finding } from '@bursar/base'
import { contractLimits } from '@bursar/contract'
import { optionalText, text } from '@bursar/records'
import { transact } from '../cluster/transaction.ts'
import { namedIn } from '../dialect.ts'
import { type Connection, textArray } from '../driver/connection.ts'
import { type Roles, tableRights } from '../schema/grants.ts'

const protectedTables = Object.keys(tableRights).filter((table) => tableRights[table]?.isProtected)

/** Policies of tables without a customer: docs/decisions/0031-row-level-security.md. */
const ofRefusals = [
  'reading select true null',
  'adding insert null true',
  'forgetting delete expires_at<=extractepochfromstatement_timestamp*1000000 null',
]
const withoutCustomer: Readonly<Record<string, readonly string[]>> = {
  denied_token: ofRefusals,
  used_assertion: ofRefusals,
  purpose_key: [
    'reading select true null',
    'first_of_its_purpose insert null notexistsselectfrompurpose_keyheldwhereheld.purpose=purpose_key.purpose',
  ],
}

const customerTables = protectedTables.filter((table) => withoutCustomer[table] === undefined)

/**
 * The form of an expression that is the same as written and as PostgreSQL prints it. The schema is
 * printed unless the search path has it, as that of a role with its name does.
 */
const plain = (expression: string | undefined): string =>
  expression === undefined
    ? 'null'
    : expression.toLowerCase().replaceAll(/::\w+|[\s()]|bursar\.(?=purpose_key)/g, '')

/** What a policy must say that admits the customer of the statement, by the column that it has. */
const customerPolicies = Object.entries(namedIn).map(
  ([column, named]) => `customer all ${column}=${plain(named)} null`,
)

/** Whether the policies that apply to a role are those of `migrate`, and are in force. */
export async function policyFindings(
  session: Connection,
  role: keyof Roles,
): Promise<readonly Finding[]> {
  const rows = await session.rows({ text: POLICIES })
  const found = Map.groupBy(rows, (row) => text(row, 'table'))
  const tables = new Set([...protectedTables, ...found.keys()])
  return [...tables].flatMap((table) => {
    const policies = (found.get(table) ?? []).map((row) => ({
      name: text(row, 'name'),
      form: [
        text(row, 'name'),
        text(row, 'command'),
        plain(optionalText(row, 'seen')),
        plain(optionalText(row, 'written')),
        ...(row.is_permissive === true ? [] : ['restrictive']),
      ].join(' '),
    }))
    const own = tableRights[table]?.isProtected ? (withoutCustomer[table] ?? customerPolicies) : []
    const expected = role === 'operator' && own.length > 0 ? [...own, OPERATOR] : own
    const strange = policies.filter(({ form }) => !expected.includes(form))
    const count = withoutCustomer[table]?.length ?? Math.min(own.length, 1)
    const isWhole = policies.length - strange.length === count + (role === 'operator' ? 1 : 0)
    const fix = 'drop or correct it as the owner, or restore the schema'
    return [
      ...strange.map(({ name }) => ({
        what: `the policy ${name} of table ${table} is not one that ${commandHint('migrate')} makes for this role`,
        why: 'it may show a customer the records of another one, or hide records',
        fix,
      })),
      ...(own.length === 0 || isWhole
        ? []
        : [
            {
              what: `table ${table} lacks a policy that ${commandHint('migrate')} makes`,
              why: 'rows are hidden, or are not limited to one customer',
              fix,
            },
          ]),
    ]
  })
}

const OPERATOR = 'operator all true true'

/** The policies that apply to the role of the session. */
const POLICIES = `
  select case when schemaname = 'bursar' then tablename else schemaname || '.' || tablename end as table,
    policyname as name, lower(cmd) as command, qual as seen, with_check as written,
    permissive = 'PERMISSIVE' as is_permissive
  from pg_policies
  where schemaname in ('bursar', 'bursar_audit') and exists (
    select from unnest(roles) as admitted (name)
    where case when name = 'public' then true else pg_has_role(current_user, name, 'member') end)
  order by schemaname, tablename, policyname`

/** The tables whose policies are not in force, or do not apply to their owner. */
export async function unprotectedFindings(session: Connection): Promise<readonly Finding[]> {
  const rows = await session.rows({
    text: `
      select wanted.name from unnest($1::text[]) as wanted (name)
      left join pg_class on relname = wanted.name and relnamespace = 'bursar'::regnamespace
      where not coalesce(relrowsecurity and (relforcerowsecurity or wanted.name <> all($2::text[])), false)
      order by wanted.name`,
    values: [textArray(protectedTables), textArray(customerTables)],
  })
  return rows.map((row) => ({
    what: `row-level security does not limit table ${text(row, 'name')} to one customer`,
    why: 'a fault of the program could show a customer the records of another one',
    fix: 'enable and force it as the owner, with the policy customer, or restore the schema',
  }))
}

/** Asks, as the customers' role, what a statement sees that names no customer, or a foreign one. */
export async function foreignRowFindings(session: Connection): Promise<readonly Finding[]> {
  const seen = new Set<string>()
  const readable = await session.rows({
    text: `select name from unnest($1::text[]) as wanted (name)
      where has_table_privilege(current_user, to_regclass('bursar.' || name), 'select')`,
    values: [textArray(customerTables)],
  })
  const looks = readable.map((row) => {
    const table = text(row, 'name')
    return `select '${table}' as name where exists (select from bursar.${table})`
  })
  if (looks.length === 0) return []
  for (const [customer, id] of [
    ['', ''],
    ['-1', 'no customer has this id: \t'],
  ]) {
    const settings = `set local statement_timeout = ${contractLimits.doctorCheckMs};
      set local bursar.customer = '${customer}'; set local bursar.customer_id = '${id}'`
    const rows = await transact(
      session,
      () => session.rows({ text: looks.join(' union all ') }),
      settings,
    )
    for (const row of rows) seen.add(text(row, 'name'))
  }
  return [...seen].map((table) => ({
    what: `the role of customers sees rows of table ${table} that are of no customer or of another one`,
    why: 'a fault of the program could show a customer the records of another one',
    fix: 'drop the policies that migrate does not make, or restore the schema',
  }))
}
