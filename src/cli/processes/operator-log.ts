import type { Command } from 'commander'
import { logLevels, openLog } from '../../platform/log.ts'
import { readPostgresUrl } from '../../platform/postgres-url.ts'
import { printable } from '../../values/printable.ts'
import type { CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'
import { operatorConfigOf } from '../with-stores.ts'
import { operatingUser } from './operating-user.ts'

/** Commands that change the store, or show what customers hold. */
const logged =
  /^(client|keys|import|export|migrate|backup|restore|reconcile|history|imports cancel|fee (show|consume))\b/

/**
 * Notes which command runs. The returned function then writes one log line: the command, who ran it
 * and how it ended. It holds no option, since one may be a URL with a password.
 */
export function openOperatorLog(program: Command): (exitCode: number) => void {
  let running: Command | undefined
  program.hook('preAction', (_program, command) => {
    running = command
  })
  return (exitCode) => {
    if (running === undefined || !logged.test(pathOf(running))) return
    const { LOG_LEVEL } = process.env
    // On a terminal nobody collects the line, and it would stand between the command's own.
    if (LOG_LEVEL === undefined && process.stderr.isTTY) return
    const log = openLog(logLevels.find((level) => level === LOG_LEVEL) ?? 'info')
    const line = {
      command: pathOf(running),
      arguments: running.args.map((argument) => printable(argument.slice(0, 200))),
      ...whoRan(running.opts<CommonOptions>()),
      outcome: exitCode === 0 ? 'done' : 'failed',
      exitCode,
    }
    log.info(line, 'operator command')
  }
}

/** Logs who sees which records in full, before the command shows them. */
export function logAccess(output: Output, options: CommonOptions, accessed: CommandAccess): void {
  output.logAccess({ ...whoRan(options), ...accessed, view: 'full' })
}

type CommandAccess = {
  readonly access: 'full view' | 'export'
  readonly kind: string
  readonly id?: string
  /** Absent for every customer. */
  readonly customer?: string
}

const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim()

/** The user of the operating system, and the role of the database where there is one. */
function whoRan(options: CommonOptions) {
  const { user, sudoUser } = operatingUser()
  return { user, ...(sudoUser !== undefined && { sudoUser }), ...roleOf(options) }
}

function roleOf(options: CommonOptions): { readonly role?: string } {
  try {
    const { databaseUrl, operatorDatabaseUrl } = operatorConfigOf(options)
    const [address] = readPostgresUrl(operatorDatabaseUrl ?? databaseUrl) ?? []
    return address === undefined ? {} : { role: address.credentials.user }
  } catch {
    // The command itself has reported the faults of its configuration.
    return {}
  }
}
