import { basename } from 'node:path'
import { printable } from '@bursar/base'
import { type AuditCommand, recordKinds, uuid } from '@bursar/contract'
import type { Command } from 'commander'

/** The options whose values hold no secret, no account number and no URL. */
const shownOptions = new Set([
  'acceptDamagedRecords',
  'allowEmpty',
  'allowOlder',
  'appRole',
  'array',
  'asset',
  'auditHead',
  'check',
  'clientsConfirmed',
  'consumedAt',
  'create',
  'customer',
  'days',
  'dryRun',
  'expect',
  'json',
  'limit',
  'network',
  'now',
  'onError',
  'operator',
  'operatorRole',
  'purpose',
  'remove',
  'reconciled',
  'rejectsMax',
  'replace',
  'yes',
  'online',
  'restoredTo',
  'revoke',
  'sandbox',
  'scope',
  'takeOver',
  'before',
])

const WITHHELD = '[withheld]'
const VALUE_LENGTH_MAX = 200
/** Files of one command that are named; an import may have thousands. */
const ARGUMENTS_MAX = 20

/** A command as the audit log keeps it. Values that may be secret are withheld. */
export function describeCommand(command: Command): AuditCommand {
  const given = command.options.filter(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli',
  )
  const options = given.map((option): [string, string] => {
    const name = option.attributeName()
    const value: unknown = command.getOptionValue(name)
    return [option.long ?? name, shownOptions.has(name) ? shortened(String(value)) : WITHHELD]
  })
  const { args } = command
  const further = args.length > ARGUMENTS_MAX ? [`… ${args.length - ARGUMENTS_MAX} more`] : []
  return {
    name: nameOf(command) || command.name(),
    arguments: [...args.slice(0, ARGUMENTS_MAX).map(shownArgument(command)), ...further],
    options: Object.fromEntries(options),
  }
}

const nameOf = (command: Command): string =>
  command.parent === null ? '' : `${nameOf(command.parent)} ${command.name()}`.trim()

/** People paste secrets where an id belongs, so only what has the form of an id is shown. */
const shownArgument =
  (command: Command) =>
  (argument: string, at: number): string => {
    const declared = command.registeredArguments
    const name = (declared[at] ?? declared.at(-1))?.name()
    if (name === 'customer') return shortened(argument)
    if (name === 'file') return shortened(basename(argument))
    const isId =
      'value' in uuid.read(argument) || /^(client_\w{1,40}|[a-z]+_sandbox)$/.test(argument)
    const isKind = recordKinds.some((kind) => kind === argument)
    return isId || isKind ? argument : WITHHELD
  }

const shortened = (text: string): string => printable(text.slice(0, VALUE_LENGTH_MAX))
