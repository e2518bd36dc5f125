import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  type Check,
  type Clock,
  type Config,
  commandHint,
  counted,
  DEFAULT_FILE,
  type Finding,
  freeBytesOf,
  openLog,
  readPostgresUrl,
  refusalOf,
  systemTime,
} from '@bursar/base'
import { contractLimits, resources } from '@bursar/contract'
import { type Erasure, type OperatorRecords, spoolFolderOf } from '@bursar/records'
import {
  lastArchivedAt,
  openOperatorStores,
  openServiceStores,
  storeEngine,
  storeFiles,
} from '@bursar/server/stores'
import type { Command } from 'commander'
import { auditCheck } from './doctor/audit-check.ts'
import { type Backups, backupCheck, newestFileAt } from './doctor/backup-check.ts'
import { feeChecks } from './doctor/fee-checks.ts'
import { installationChecks } from './doctor/installation.ts'
import { keyChecks } from './doctor/key-checks.ts'
import { recordsCheck } from './doctor/records-check.ts'
import { sealingCheck } from './doctor/sealing-check.ts'
import type { UsingRecords } from './doctor/using-records.ts'
import { type CommonOptions, configOf, newCommand } from './options.ts'
import { CommandFailed, type Output, printResult } from './output.ts'

type DoctorOptions = CommonOptions & { readonly backup?: string }

/** The outcome of a check. One that is `unknown` has not found out whether all is well. */
type Checked = { readonly name: string } & (
  | { readonly status: 'ok' }
  | { readonly status: 'failed'; readonly findings: readonly Finding[] }
  | { readonly status: 'unknown'; readonly reason: string }
)

const description =
  'Check configuration, keys, store, roles, clocks, standbys, disk, fees and backups, and say what to mend. It changes nothing.'

export function doctorCommand(output: Output, clock: Clock): Command {
  return newCommand('doctor', description, ['doctor', 'doctor --json', 'doctor --backup backups/'])
    .option('--backup <path>', 'The newest backup, or the folder with the backups.')
    .action(async (options: DoctorOptions) => {
      const checked = await examine(options, clock)
      const faulty = checked.filter(({ status }) => status !== 'ok')
      const document = { healthy: faulty.length === 0, checks: checked }
      const all = `${counted(checked.length, 'check')} passed`
      printResult(output, options, document, faulty.length === 0 ? [all] : faulty.map(linesOf))
      if (faulty.length === 0) return
      throw new CommandFailed(`${faulty.length} of ${counted(checked.length, 'check')} failed`)
    })
}

const linesOf = (checked: Checked): string => {
  if (checked.status === 'ok') return `${checked.name}: ok`
  if (checked.status === 'unknown') return `${checked.name}: not checked: ${checked.reason}`
  const found = checked.findings.map(
    ({ what, why, fix }) =>
      `${checked.name}: ${what}.\n  Why it matters: ${why}.\n  What to do: ${fix}.`,
  )
  return found.join('\n')
}

async function examine(options: DoctorOptions, clock: Clock): Promise<readonly Checked[]> {
  let config: Config | undefined
  const refused = await refusalOf(() => {
    config = configOf(options)
  })
  const [configuration] = await runAll([{ name: 'configuration', find: () => refused }])
  const others = config === undefined ? [] : await examineWith(config, options, clock)
  return [...(configuration === undefined ? [] : [configuration]), ...others]
}

async function examineWith(
  config: Config,
  options: DoctorOptions,
  clock: Clock,
): Promise<readonly Checked[]> {
  const first = await runAll([
    ...installationChecks({
      config,
      file: options.config ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined),
      folders: foldersOf(config),
      freeBytesOf,
    }),
    ...feeChecks({ config, clock, log: openLog('silent') }),
    backupCheck(backupsOf(config, options), clock),
  ])
  const engine = await storeEngine({ config, clock, log: openLog('silent') })
  const store = await runAll(await engine.checks())
  // A store that cannot be opened would be reported again by each further check. What a host has
  // beside the store hinders none.
  const hinders = ({ name, status }: Checked) => status !== 'ok' && name !== 'surroundings'
  if (store.some(hinders)) return [...first, ...store]
  const inside = await runAll([
    ...keyChecks({ config, clock, using: usingStore(config, clock) }),
    recordsCheck({ resources, using: usingRecords(config, clock) }),
    sealingCheck({ using: usingRecords(config, clock) }),
    auditCheck({ config, clock, oldestAt: () => oldestAuditLine(config, clock) }),
  ])
  return [...first, ...store, ...inside]
}

/** Runs checks beside each other. */
const runAll = (checks: readonly Check[]): Promise<readonly Checked[]> =>
  Promise.all(checks.map(run))

/** A check has a deadline, so that a server that never answers does not hold the others up. */
async function run({ name, find }: Check): Promise<Checked> {
  const late = Promise.withResolvers<undefined>()
  const cancel = systemTime.after(contractLimits.doctorCheckMs, () => late.resolve(undefined))
  try {
    const findings = await Promise.race([find(), late.promise])
    if (findings === undefined) {
      return { name, status: 'unknown', reason: 'it took too long' }
    }
    return findings.length === 0 ? { name, status: 'ok' } : { name, status: 'failed', findings }
  } catch (error) {
    return { name, status: 'unknown', reason: error instanceof Error ? error.message : 'unknown' }
  } finally {
    cancel()
  }
}

const foldersOf = (config: Config): readonly string[] => {
  const files = storeFiles({ ...config, operatorDatabaseUrl: undefined })
  return [...(files === undefined ? [] : [dirname(files.path)]), spoolFolderOf(config)]
}

export function backupsOf(config: Config, { backup }: Pick<DoctorOptions, 'backup'>): Backups {
  if (backup !== undefined) {
    return { lastAt: () => newestFileAt(backup), advice: `make one in ${backup}` }
  }
  const files = storeFiles({ ...config, operatorDatabaseUrl: undefined })
  if (files !== undefined) {
    return { lastAt: files.lastBackupAt, advice: `run ${commandHint('backup')} every day` }
  }
  return {
    lastAt: () => lastArchivedAt(config),
    advice: 'archive the log of the primary, or name your newest dump with --backup',
  }
}

/** The roles of PostgreSQL cannot read the log. There, watch the job that prunes it. */
async function oldestAuditLine(config: Config, clock: Clock): Promise<bigint | undefined> {
  if (storeFiles({ ...config, operatorDatabaseUrl: undefined }) === undefined) return undefined
  const sources = { config, clock, log: openLog('silent') }
  const engine = await storeEngine(sources)
  return await engine.withAudit(async ({ reader }) => {
    const none = { since: undefined, until: undefined, after: undefined }
    const [oldest] = await reader.lines({ ...none, newestFirst: false, linesMax: 1 })
    return oldest?.at
  })
}

/** The parts of a store with the rights of a server. It adds no key. */
const usingStore =
  (config: Config, clock: Clock): Parameters<typeof keyChecks>[0]['using'] =>
  async (work) => {
    const stores = await openServiceStores({ config, clock, log: openLog('silent') }, 'beside')
    try {
      const credentials = { ...stores.credentials(), addPurposeKey: async () => false }
      return await work({ credentials, openKeyring: () => stores.keyring(credentials) })
    } finally {
      await stores.close()
    }
  }

type RecordParts = { readonly records: OperatorRecords; readonly erasures: readonly Erasure[] }

/** The records of every customer, where this process may see them. It adds no key. */
const usingRecords =
  (config: Config, clock: Clock): UsingRecords<RecordParts> =>
  async (work) => {
    const isEmbedded = readPostgresUrl(config.databaseUrl) === undefined
    if (!isEmbedded && config.operatorDatabaseUrl === undefined) return await work(undefined)
    const stores = await openOperatorStores({ config, clock, log: openLog('silent') })
    try {
      const credentials = stores.credentials()
      if ((await credentials.readPurposeKeys()).length === 0) return await work(undefined)
      await stores.keyring({ ...credentials, addPurposeKey: async () => false })
      const erasures = await credentials.listErasures()
      return await work({ records: stores.records().operator, erasures })
    } finally {
      await stores.close()
    }
  }
