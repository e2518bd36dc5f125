/** The two roles that the program runs as; neither owns anything. */
export type Roles = {
  /** Serves customers: sees the one that its setting names. */
  readonly app: string
  /** The operator's commands and ingest: the policies admit it to all customers. */
  readonly operator: string
}

type Access = { readonly app: string; readonly operator: string; readonly walled: boolean }

const readByCustomers = { app: 'select', operator: 'select, insert, update, delete', walled: true }

const notesUse = 'select, update (last_used_at)'
/** Which of their rows the app may delete is a policy's to say. */
const refusals = { app: 'select, insert, delete', operator: 'select, insert, delete', walled: true }

/** What each role may do to each table. The tables outside the wall: docs/decisions/0031-the-second-wall.md. */
const access: Readonly<Record<string, Access>> = {
  fiat_account: readByCustomers,
  fiat_account_full: readByCustomers,
  fiat_deposit_instructions: readByCustomers,
  deposit_address: readByCustomers,
  statement: readByCustomers,
  issuer_quote_execution: readByCustomers,
  revision: readByCustomers,
  superseded: { app: '', operator: 'select, insert, delete', walled: true },
  lineage: { app: 'select, update', operator: 'select, update', walled: false },
  client: { app: notesUse, operator: 'select, insert, update, delete', walled: false },
  client_secret: { app: notesUse, operator: 'select, insert, update, delete', walled: false },
  purpose_key: {
    app: 'select, insert',
    operator: 'select, insert, update (wrapped, master_id, revoked_at)',
    walled: true,
  },
  denied_token: refusals,
  used_assertion: refusals,
  credential_revision: {
    app: 'select, update (value)',
    operator: 'select, update (value)',
    walled: false,
  },
  fee_quote: {
    app: 'select, insert',
    operator: 'select, update (withdrawal, consumed_at), delete',
    walled: true,
  },
  schema_migration: { app: 'select', operator: 'select', walled: false },
}

/** Gives the roles what they need and nothing else; run again after every migration, it changes nothing. */
export function grantStatements({ app, operator }: Roles): string {
  const [toApp, toOperator] = [identifier(app), identifier(operator)]
  const tables = Object.entries(access).flatMap(
    ([name, { app: appMay, operator: may, walled }]) => [
      `revoke all on bursar.${name} from ${toApp}, ${toOperator}`,
      ...(appMay === '' ? [] : [`grant ${appMay} on bursar.${name} to ${toApp}`]),
      `grant ${may} on bursar.${name} to ${toOperator}`,
      ...(walled ? [admission(name, operator)] : []),
    ],
  )
  return [`grant usage on schema bursar to ${toApp}, ${toOperator}`, ...tables].join(';\n')
}

/** Made only where it is not as it should be: a policy that changes locks its table, and servers are at work. */
const admission = (table: string, operator: string): string => `
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

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`
