import { type Config, openLog, readPostgresUrl } from '@bursar/base'
import type { AuditActor, AuditEntry } from '@bursar/contract'
import { type AuditLog, openHeads, recordsLimits } from '@bursar/records'
import type { Command } from 'commander'
import type { CommonOptions } from '../options.ts'
import { CommandFailed } from '../output.ts'
import { describeCommand } from './describe-command.ts'
import { operatingUser } from './operating-user.ts'

type Noted = Pick<AuditEntry, 'kind' | 'ids' | 'customers' | 'counts' | 'rows'> & {
  /** Where the work has ended without an error, and yet has changed nothing. */
  readonly refused?: boolean
}

/** What the work of a command adds to its entries. */
export type CommandAudit = {
  /** Notes what the command has made or changed, for its last entry. */
  note(noted: Noted): void
  /** Writes what is about to be shown. */
  write(entry: Pick<AuditEntry, 'action' | 'kind' | 'ids' | 'customer' | 'view'>): Promise<void>
  /** Writes that the work was ended by a signal, and has changed nothing. */
  cancelled(): Promise<void>
}

/**
 * Runs the work of a command between two entries. Without the first there is no work. If the work
 * is done and the second cannot be written, the command fails, and says so.
 */
export async function auditing<T>(
  audit: AuditLog,
  command: Command,
  config: Config,
  work: (command: CommandAudit) => Promise<T>,
): Promise<T> {
  const [actor, described] = [actorOf(config), describeCommand(command)]
  let noted: Partial<AuditEntry> = {}
  let isRefused = false
  const write = (outcome: AuditEntry['outcome']) =>
    audit.write({ action: 'command', actor, outcome, command: described, ...noted })
  await write('begun')
  let result: T
  try {
    result = await work({
      note: (more) => {
        const { refused = false, ...members } = more
        isRefused = refused
        noted = { ...noted, ...members, ...(more.ids && { ids: listed(more.ids) }) }
      },
      write: (entry) => audit.write({ ...entry, actor, outcome: 'done' }),
      cancelled: () => write('cancelled'),
    })
  } catch (error) {
    // What went wrong is the error of the work.
    await write('failed').catch(() => {})
    await showHead(audit, command, config)
    throw error
  }
  await write(isRefused ? 'refused' : 'done').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandFailed(
      `the command has done its work, but the audit log does not have its end: ${reason}`,
      { cause: error },
    )
  })
  await showHead(audit, command, config)
  return result
}

const listed = (ids: readonly string[]): readonly string[] =>
  ids.length <= recordsLimits.auditIdsPerLineMax
    ? ids
    : [
        ...ids.slice(0, recordsLimits.auditIdsPerLineMax),
        `… ${ids.length - recordsLimits.auditIdsPerLineMax} more`,
      ]

/** The user of the operating system, and the role of the database where there is one. */
function actorOf({ databaseUrl, operatorDatabaseUrl }: Config): AuditActor {
  const { user: name, sudoUser } = operatingUser()
  const [address] = readPostgresUrl(operatorDatabaseUrl ?? databaseUrl) ?? []
  return {
    type: 'os_user',
    name,
    ...(sudoUser !== undefined && { sudo_user: sudoUser }),
    ...(address !== undefined && { database_role: address.credentials.user }),
  }
}

async function showHead(
  audit: AuditLog,
  command: Command,
  { auditHeadsFile: headsFile }: Config,
): Promise<void> {
  // `imports --audit-head cancel` means the same as `imports cancel --audit-head`.
  const { auditHead: isAsked } = command.optsWithGlobals<CommonOptions>()
  const head = audit.head()
  if (head === undefined) return
  await openHeads({ log: openLog(isAsked === true ? 'info' : 'warn'), headsFile }).write([head])
}
