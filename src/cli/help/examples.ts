/** What to type for each command, without the name of the program. Help shows these lines. */
export const examples: Readonly<Record<string, readonly string[]>> = {
  serve: [
    'serve --host 127.0.0.1 --port 8080',
    'serve --workers 2 --database sqlite:data/bursar.db --create',
  ],
  sandbox: ['sandbox --port 8080', 'sandbox --data sandbox-data'],
  migrate: ['migrate', 'migrate --check'],
  import: [
    'import fiat-accounts examples/records/fiat-accounts.ndjson --dry-run',
    'import statements - --customer northwind < statements.ndjson',
    'import fiat-accounts accounts.ndjson --expect 1200',
  ],
  'import list': ['import list', 'import list --json'],
  imports: ['imports', 'imports --state merging --json'],
  'imports cancel': ['imports cancel 01a2004b-4abc-726b-9ad9-09f8eb63e348'],
  export: [
    'export fiat-accounts > fiat-accounts.ndjson',
    'export statements --customer northwind --array > statements.json',
  ],
  'history show': [
    'history show fiat-accounts 8d9f5f1e-1f0b-4f43-9d0c-4a2f8a4a6c11',
    'history show statements 8d9f5f1e-1f0b-4f43-9d0c-4a2f8a4a6c11 --json',
  ],
  'history prune': ['history prune --before 2025-01-01T00:00:00Z'],
  backup: ['backup bursar-2026-11-22.tar'],
  restore: ['restore bursar-2026-11-22.tar --database sqlite:restored/bursar.db'],
  reconcile: ['reconcile', 'reconcile --clients-confirmed', 'reconcile --reconciled'],
  'client create': [
    'client create --customer northwind --name "Northwind treasury"',
    'client create --operator --name Payouts --scope ingest:consume_fee',
    'client create --operator --customer northwind --name Branch --scope ingest:write_statements',
  ],
  'client list': ['client list', 'client list --json'],
  'client update': [
    'client update client_4mV8pXo2cQ --scope "transfer:read_fiat_account"',
    'client update client_4mV8pXo2cQ --name "Northwind treasury, Zurich"',
  ],
  'client rotate': ['client rotate client_4mV8pXo2cQ', 'client rotate client_4mV8pXo2cQ --now'],
  'client disable': ['client disable client_4mV8pXo2cQ', 'client disable --sandbox'],
  'keys list': ['keys list'],
  'keys rotate': ['keys rotate', 'keys rotate --purpose cursor --revoke'],
  'keys rotate-master': ['keys rotate-master'],
  audit: [
    'audit --since 2026-11-22T00:00:00Z --action command',
    'audit --json --follow',
    'audit --customer northwind --limit 1000',
  ],
  'audit verify': ['audit verify', 'audit verify --heads audit-heads.ndjson'],
  'audit prune': ['audit prune'],
  'fee show': ['fee show 8d9f5f1e-1f0b-4f43-9d0c-4a2f8a4a6c11'],
  'fee consume': [
    'fee consume 8d9f5f1e-1f0b-4f43-9d0c-4a2f8a4a6c11 --customer northwind --asset USDC --network ETHEREUM --address 0xF0Aa84466e353E5390be37FE2934301c07c19a55 --amount 100 --withdrawal payout-7',
  ],
  'fee schedule': ['fee schedule', 'fee schedule --json'],
  'fee-schedule check': ['fee-schedule check fees.json', 'fee-schedule check --json'],
  doctor: ['doctor', 'doctor --json', 'doctor --backup backups/'],
  healthcheck: ['healthcheck', 'healthcheck --url http://127.0.0.1:8081'],
  verify: [
    'verify --target http://127.0.0.1:8080 --client-id acme_sandbox --client-secret bursar_sandbox_secret_of_acme',
  ],
  'fee check-address': ['fee check-address ETHEREUM 0xF0Aa84466e353E5390be37FE2934301c07c19a55'],
}
