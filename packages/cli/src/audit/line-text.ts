import { counted, printable, printInstant } from '@bursar/base'
import type { AuditActor, AuditEntry } from '@bursar/contract'
import type { AuditLine } from '@bursar/records'

/** Ids that one line of text names. The JSON has all of them. */
const IDS_SHOWN = 5

/** One line for a person: when, who, what, and how it ended. */
export function lineText(line: AuditLine, entry: AuditEntry): string {
  const { action, outcome, kind, customer, view, reason, command, count, rows } = entry
  const cells = [
    printInstant(line.at),
    actorText(entry.actor),
    action,
    outcome,
    command && commandText(command),
    entry.operation,
    kind,
    view && `${view} view`,
    (customer ?? entry.customers?.join(', ')) && `of ${customer ?? entry.customers?.join(', ')}`,
    entry.ids && idsText(entry.ids),
    count && count > 1 ? counted(count, 'time') : undefined,
    rows === undefined ? undefined : counted(rows, 'record'),
    entry.counts && JSON.stringify(entry.counts),
    entry.steps?.map(({ name, at }) => `${name} at ${at}`).join(', '),
    reason && `“${reason}”`,
  ]
  return cells
    .filter((cell) => cell !== undefined && cell !== '')
    .map((cell) => printable(String(cell), 1000))
    .join('  ')
}

function actorText(actor: AuditActor): string {
  switch (actor.type) {
    case 'os_user':
      return actor.sudo_user === undefined ? actor.name : `${actor.name} (sudo: ${actor.sudo_user})`
    case 'client':
      return actor.id
    case 'person':
      return `${actor.subject} of ${actor.issuer}`
    default:
      return actor.type
  }
}

const commandText = ({ name, arguments: words, options }: NonNullable<AuditEntry['command']>) =>
  [
    name,
    ...words,
    ...Object.entries(options).map(([option, value]) =>
      value === 'true' ? option : `${option} ${value}`,
    ),
  ].join(' ')

const idsText = (ids: readonly string[]): string => {
  const more = ids.length > IDS_SHOWN ? ` and ${ids.length - IDS_SHOWN} more` : ''
  return ids.slice(0, IDS_SHOWN).join(' ') + more
}
