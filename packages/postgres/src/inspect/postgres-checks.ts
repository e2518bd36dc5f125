import {
  type Check,
  type Clock,
  type Config,
  type Finding,
  limitsOf,
  readPostgresUrl,
  refusalOf,
  type ServerAddress,
} from '@bursar/base'
import { NoPrimary, optionalWhole, text, whole } from '@bursar/records'
import { refusePooler } from '../cluster/find-pooler.ts'
import { openStateless, withPrimary } from '../cluster/with-primary.ts'
import type { Connection } from '../driver/connection.ts'
import { areSettingsRefused, isPassing, safeMessage } from '../driver/failure.ts'
import { requiredSettings } from '../driver/required-settings.ts'
import { poolerSettings } from '../open-sessions.ts'
import { schemaFaults } from '../schema/check-schema.ts'
import { appliedTo } from '../schema/migrate.ts'
import { requireCustomersRole, requireOperatorRole } from '../schema/roles.ts'
import { settingFindings } from '../schema/session-settings.ts'
import { foreignRowFindings } from './foreign-rows.ts'
import { roleFindings } from './role-findings.ts'
import { standbyFindings } from './standby-findings.ts'
import { surroundingFindings } from './surrounding-findings.ts'

const limits = limitsOf({
  /** How far the clock may differ from the database's. Tokens and quotes live for minutes. */
  clockDifferenceMsMax: 1000,
})

type Inspected = {
  readonly config: Config
  readonly clock: Clock
}

/** Checks a database and its servers for `doctor`. Each check opens sessions of its own. */
export function postgresChecks({ config, clock }: Inspected): readonly Check[] {
  const settings = poolerSettings(config)
  const { databaseUrl, operatorDatabaseUrl, databaseReadUrls } = config
  const primaries = readPostgresUrl(databaseUrl) ?? []
  const operators = operatorDatabaseUrl === undefined ? [] : readPostgresUrl(operatorDatabaseUrl)
  const standbys = databaseReadUrls.flatMap((url) => readPostgresUrl(url) ?? [])
  const asOperator = async (find: Find) =>
    operators === undefined || operators.length === 0 ? [] : await withPrimary(operators, find)
  const everyone = [...primaries, ...(operators ?? []), ...standbys]
  const onPrimary = (find: Find) => withPrimary(primaries, find)
  return [
    {
      name: 'database',
      find: async () => (await Promise.all([...primaries, ...standbys].map(serverFindings))).flat(),
    },
    {
      name: 'sessions',
      find: async () =>
        (await Promise.all(everyone.map((address) => sessionFindings(address, config)))).flat(),
    },
    { name: 'durability', find: () => onPrimary(durabilityFindings) },
    { name: 'schema', find: () => onPrimary(schemaFindings) },
    { name: 'surroundings', find: () => onPrimary(ofSchema(surroundingFindings)) },
    {
      name: 'roles',
      find: async () => [
        ...(await onPrimary(ofSchema((session) => roleFindings(session, requireCustomers)))),
        ...(await asOperator(ofSchema((session) => roleFindings(session, requireOperatorRole)))),
      ],
    },
    {
      name: 'row-security',
      find: () =>
        onPrimary(
          ofSchema(async (session) => {
            const refused = await refusalOf(() => requireCustomers(session))
            return refused.length > 0 ? [] : await foreignRowFindings(session)
          }),
        ),
    },
    { name: 'clock', find: () => onPrimary((session) => clockFindings(session, clock)) },
    { name: 'standbys', find: () => onPrimary((session) => standbyFindings(session, standbys)) },
    {
      name: 'pooler',
      find: async () => {
        if (settings === undefined)
          return refusalOf(() => refusePooler([...primaries, ...standbys]))
        return await onPrimary((session) => settingFindings(session, settings))
      },
    },
  ]
}

type Find = (connection: Connection) => Promise<readonly Finding[]>

/** Before the first `migrate`, the check of the schema says the one thing that is to do. */
const ofSchema =
  (find: Find): Find =>
  async (session) =>
    (await appliedTo(session)).length === 0 ? [] : await find(session)

const requireCustomers = requireCustomersRole('DATABASE_URL')

async function serverFindings(address: ServerAddress): Promise<readonly Finding[]> {
  const connection = openStateless(address)
  try {
    const [row = {}] = await connection.rows({
      text: `select current_setting('server_version_num')::bigint as version`,
    })
    if (whole(row, 'version') >= VERSION_MIN) return []
    return [
      {
        what: `${address.label} runs a version of PostgreSQL before 15`,
        why: 'statements of this program need version 15',
        fix: 'upgrade the server',
      },
    ]
  } catch (error) {
    return [
      {
        what: `${address.label} cannot be used: ${safeMessage(error)}`,
        why: 'a server that does not answer is no help once the others fail',
        fix: 'start it, or correct the URL and its login',
      },
    ]
  } finally {
    await connection.close()
  }
}

const VERSION_MIN = 150_000n

/** What sessions of a server lack, started as the program starts them. */
async function sessionFindings(
  address: ServerAddress,
  { pooler }: Config,
): Promise<readonly Finding[]> {
  const connection = openStateless(address, { isPinned: pooler === 'none' })
  try {
    return await settingFindings(connection, requiredSettings)
  } catch (error) {
    if (!areSettingsRefused(error)) {
      // The check of the database has reported a server that does not answer.
      if (isPassing(error)) return []
      throw error
    }
    return [
      {
        what: `${address.label} refuses the settings with which a session starts: ${safeMessage(error)}`,
        why: 'the program does not start with it',
        fix: 'if it is a pooler, set it up as docs/scaling.md says',
      },
    ]
  } finally {
    await connection.close()
  }
}

/** Settings with which an acknowledged change can be lost. */
async function durabilityFindings(session: Connection): Promise<readonly Finding[]> {
  const rows = await session.rows({
    text: `select name from pg_settings where setting = 'off'
      and name in ('fsync', 'full_page_writes', 'synchronous_commit') order by name`,
  })
  return rows.map((row) => ({
    what: `${text(row, 'name')} is off`,
    why: 'a crash of the database loses changes that callers were told of, or damages the files',
    fix: `set ${text(row, 'name')} = on in postgresql.conf`,
  }))
}

async function schemaFindings(session: Connection): Promise<readonly Finding[]> {
  let faults: readonly string[] = []
  const refused = await refusalOf(async () => {
    faults = await schemaFaults(session)
  })
  const found = faults.map((fault) => ({
    what: fault,
    why: 'a restore, a failed build or a change by hand has left it behind',
    fix: 'mend it as the owner of the database, then run doctor again',
  }))
  return [...refused, ...found]
}

async function clockFindings(session: Connection, clock: Clock): Promise<readonly Finding[]> {
  const before = clock()
  const [row = {}] = await session.rows({
    text: `select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now`,
  })
  const after = clock()
  const ahead = whole(row, 'now') - (before + after) / 2n
  const sure = (ahead < 0n ? -ahead : ahead) - (after - before) / 2n
  if (sure <= BigInt(limits.clockDifferenceMsMax) * 1000n) return []
  const [ms, direction] = [sure / 1000n, ahead > 0n ? 'behind' : 'ahead of']
  return [
    {
      what: `the clock of this machine is ${ms} ms ${direction} the database’s`,
      why: 'tokens, quotes and histories begin and end at the wrong time',
      fix: 'synchronise both machines with one time service, such as chrony',
    },
  ]
}

/** When the last file of the log was archived. Undefined without an archive. */
export const lastArchivedAt = (primaries: readonly ServerAddress[]): Promise<bigint | undefined> =>
  withPrimary(primaries, async (session) => {
    const [row = {}] = await session.rows({
      text: `select (extract(epoch from last_archived_time) * 1000000)::bigint as at
        from pg_stat_archiver`,
    })
    return optionalWhole(row, 'at')
  })

/** The label of the first server that is a primary. */
export async function primaryOf(addresses: readonly ServerAddress[]): Promise<string | undefined> {
  for (const address of addresses) {
    const isPrimary = await withPrimary([address], async () => true).catch((error: unknown) => {
      if (error instanceof NoPrimary) return false
      throw error
    })
    if (isPrimary) return address.label
  }
  return undefined
}
