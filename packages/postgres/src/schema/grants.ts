import { importBegun, importEnded, nameTables, recordTables } from '@bursar/records'

/** The two roles that Bursar connects as. Neither owns a table. */
export type Roles = {
  /** Serves customers. Row-level security shows it one tenant at a time. */
  readonly app: string
  /** Runs the operator's commands and ingest. The policies show it every tenant. */
  readonly operator: string
}

type Access = { readonly app: string; readonly operator: string; readonly isProtected: boolean }

const readByCustomers = {
  app: 'select',
  operator: 'select, insert, update, delete',
  isProtected: true,
}

const forStaff = { app: '', operator: 'select, insert, update, delete', isProtected: true }

const notesUse = 'select, update (last_used_at)'
/** A secret is hashed with a new key when its client gets a token. */
const notesHash = 'select, update (last_used_at, hash)'
/** A policy limits which of these rows the app may delete. */
const refusals = {
  app: 'select, insert, delete',
  operator: 'select, insert, delete',
  isProtected: true,
}

/** For the unprotected tables see docs/decisions/0031-row-level-security.md. */
export const tableRights: Readonly<Record<string, Access>> = {
  ...Object.fromEntries(recordTables.map((table) => [table, readByCustomers])),
  customer: {
    app: 'select',
    operator: 'select, insert, update (changes, binding), delete',
    isProtected: true,
  },
  // No customer's request reads the names that staff give.
  ...Object.fromEntries(nameTables.map((table) => [table, forStaff])),
  revision: readByCustomers,
  history: {
    app: 'select',
    operator: 'select, insert, update (body, checksum), delete',
    isProtected: true,
  },
  customer_key: readByCustomers,
  reseal: { app: '', operator: 'select, insert, update, delete', isProtected: true },
  former_value: readByCustomers,
  record_term: { app: '', operator: 'select, insert, update, delete', isProtected: true },
  extent: { app: 'select', operator: 'select, insert, delete', isProtected: true },
  kept_since: readByCustomers,
  change_state: { app: '', operator: 'select, insert, update, delete', isProtected: true },
  change_log: {
    app: '',
    operator: 'select, insert, update (high), delete',
    isProtected: true,
  },
  change_head: { app: '', operator: 'select, update (seq)', isProtected: false },
  fee_event: { app: 'select', operator: 'select, insert, delete', isProtected: true },
  unique_claim: { app: '', operator: 'select, insert, delete', isProtected: true },
  origin: { app: '', operator: 'select, insert', isProtected: false },
  // Nobody writes the role of a row, or changes who has imported.
  import: {
    app: '',
    operator: `select, insert (${importBegun}), update (${importEnded}), delete`,
    isProtected: false,
  },
  lineage: { app: 'select, update', operator: 'select, update', isProtected: false },
  client: { app: notesUse, operator: 'select, insert, update, delete', isProtected: false },
  client_secret: { app: notesHash, operator: 'select, insert, update, delete', isProtected: false },
  purpose_key: {
    app: 'select, insert',
    operator: 'select, insert, update (wrapped, master_id, revoked_at)',
    isProtected: true,
  },
  denied_token: refusals,
  used_assertion: refusals,
  credential_revision: {
    app: 'select, update (value)',
    operator: 'select, update (value)',
    isProtected: false,
  },
  fee_quote: {
    app: 'select, insert',
    operator: `select, delete,
      update (withdrawal, consumed_at, address, canonical_address, amount, fee, total)`,
    isProtected: true,
  },
  fee_event_due: { app: '', operator: 'select, insert, delete', isProtected: true },
  fee_quote_sweep: { app: '', operator: 'select, update', isProtected: false },
  recovery: { app: 'select', operator: 'select, insert, update, delete', isProtected: false },
  erasure: { app: '', operator: 'select, insert, update', isProtected: false },
  made_object: { app: 'select', operator: 'select', isProtected: false },
  schema_migration: { app: 'select', operator: 'select', isProtected: false },
}

/**
 * Gives the roles exactly the rights that they need on the tables that the applied steps have
 * created. Safe to run again after every migration.
 */
export function grantStatements({ app, operator }: Roles, present: readonly string[]): string {
  const [toApp, toOperator] = [identifier(app), identifier(operator)]
  const tables = Object.entries(tableRights)
    .filter(([name]) => present.includes(name))
    .flatMap(([name, { app: appMay, operator: may, isProtected }]) => [
      `revoke all on bursar.${name} from public, ${toApp}, ${toOperator}`,
      ...(appMay === '' ? [] : [`grant ${appMay} on bursar.${name} to ${toApp}`]),
      `grant ${may} on bursar.${name} to ${toOperator}`,
      ...(isProtected ? [operatorPolicy(name, operator), ownerPolicy(name)] : []),
    ])
  const schema = [
    `revoke all on schema bursar, bursar_audit from public, ${toApp}, ${toOperator}`,
    `revoke all on all sequences in schema bursar, bursar_audit from public, ${toApp}, ${toOperator}`,
    `grant usage on schema bursar to ${toApp}, ${toOperator}`,
    refuseHiddenRows,
  ]
  return [...schema, ...tables, ...auditGrants(toApp, toOperator)].join(';\n')
}

/** The functions by which lines are added to the audit log, and where its chains end. */
const auditFunctions = ['bursar_audit.append', 'bursar_audit.heads', 'bursar_audit.stored']

/**
 * Nobody who writes the audit log can read it, or change what is written. The operator reads who
 * saw a record in full, which a trigger copies from the lines. All read what was the last change of
 * a client, what has ended and which keys were destroyed. They may add to that, and change nothing.
 */
export const auditRights: Readonly<Record<string, Omit<Access, 'isProtected'>>> = {
  'bursar_audit.line': { app: 'insert', operator: 'insert' },
  'bursar_audit.seen': { app: '', operator: 'select' },
  'bursar_audit.client_mark': { app: 'select, insert', operator: 'select, insert' },
  'bursar_audit.token_end': { app: 'select, insert', operator: 'select, insert' },
  'bursar_audit.key_end': { app: 'select', operator: 'select, insert' },
  'bursar_audit.destroyed_key': { app: 'select', operator: 'select, insert' },
}

/** Whether `migrate` grants rights to an object, by its name as PostgreSQL prints it. */
export const isGranted = (object: string): boolean =>
  [
    ...Object.keys({ ...tableRights, ...auditRights }),
    'clock_microseconds',
    'issue_fee_quotes',
    ...auditFunctions,
    'bursar',
    'bursar_audit',
  ]
    .map((name) => name.replace('bursar_audit.', ''))
    .includes(object)

const auditGrants = (toApp: string, toOperator: string): readonly string[] => [
  `revoke all on all tables in schema bursar_audit from public, ${toApp}, ${toOperator}`,
  `grant usage on schema bursar_audit to ${toApp}, ${toOperator}`,
  ...auditFunctions.flatMap((name) => [
    `revoke all on function ${name} from public`,
    `grant execute on function ${name} to ${toApp}, ${toOperator}`,
  ]),
  ...Object.entries(auditRights).flatMap(([table, { app, operator }]) => [
    ...(app === '' ? [] : [`grant ${app} on ${table} to ${toApp}`]),
    `grant ${operator} on ${table} to ${toOperator}`,
  ]),
]

/**
 * Row-level security applies to the owner too, who names no customer. Without this, a dump with
 * `--enable-row-security` would be empty and succeed. A session that says so reads every row: the
 * owner could lift the policies anyway, but that would lock the tables.
 */
const refuseHiddenRows = `
  create or replace function bursar.refuse_hidden_rows() returns boolean language plpgsql
  set search_path = pg_catalog as $refuse$
  begin
    if current_setting('bursar.sees_every_row', true) = 'on' then return true; end if;
    raise exception 'row-level security hides these rows from the owner of the table'
      using errcode = '42501', hint = 'Read or dump as a role with bypassrls, such as bursar_backup.';
  end
  $refuse$`

/** Lets the owner read the rows of every customer in this transaction. */
export const seeEveryRow = `set local bursar.sees_every_row = 'on'`

/** PostgreSQL evaluates the policy for rows that no other policy shows. Migrations suspend it. */
const ownerPolicy = (table: string): string => `
  do $refuse$ begin
    if not exists (
      select 1 from pg_policies where schemaname = 'bursar' and tablename = '${table}'
        and policyname = 'owner' and roles = array[current_user]
    ) then
      drop policy if exists owner on bursar.${table};
      create policy owner on bursar.${table} for select to current_user
        using (bursar.refuse_hidden_rows());
    end if;
  end $refuse$`

/** Keeps a policy that is right, because a change of policy locks the table. */
const operatorPolicy = (table: string, operator: string): string => `
  do $admit$ begin
    if not exists (
      select 1 from pg_policies where schemaname = 'bursar' and tablename = '${table}'
        and policyname = 'operator' and roles = array[${literal(operator)}]::name[]
    ) then
      drop policy if exists operator on bursar.${table};
      create policy operator on bursar.${table} to ${identifier(operator)} using (true) with check (true);
    end if;
  end $admit$`

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`
