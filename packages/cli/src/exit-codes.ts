type ExitCodes = Readonly<Record<string, string>>

/** What each exit code says, by the command. `''` has the codes of every command. */
const exitCodes: Readonly<Record<string, ExitCodes>> = {
  '': {
    0: 'It is done.',
    1: 'It failed. stderr says why.',
    2: 'The usage or the configuration is wrong.',
  },
  serve: { 0: 'A signal stopped it.' },
  sandbox: { 0: 'A signal stopped it.' },
  import: {
    0: 'Every record is stored, or could be with --dry-run.',
    3: 'Some or all records were rejected. The others are stored, or could be with --dry-run.',
    '130, 143': 'A signal ended it. stderr says what was changed.',
  },
  'imports cancel': {
    0: 'The import was asked to end.',
    1: 'There is no such import, or it has ended.',
  },
  migrate: { 1: 'It failed, or --check found damage.' },
  backup: { '129, 130, 143': 'A signal ended it.' },
  restore: { '129, 130, 143': 'A signal ended it.' },
  'fee check-address': { 1: 'The address is not valid.' },
  'fee consume': { 1: 'It is not consumed. stderr says why.' },
  'fee-schedule check': { 1: 'The document has a fault.' },
  status: { 1: 'The store cannot be used.' },
  doctor: { 0: 'Every check is well.', 1: 'A check failed or could not be made.' },
  healthcheck: { 0: 'The server is ready.', 1: 'The server is not ready.' },
  'audit verify': { 0: 'The audit log is whole.', 1: 'It has a finding, or it cannot be read.' },
  verify: {
    0: 'No statement is broken.',
    1: 'At least one statement is broken. The last line on stderr names them.',
    2: 'Nothing was checked to its end: wrong usage, no connection, or no token.',
  },
}

/** The exit codes of a command, for its help. `path` is what to type for it. */
export function exitCodesOf(path: string): string {
  const lines = Object.entries({ ...exitCodes[''], ...exitCodes[path] }).map(
    ([code, meaning]) => `  ${code}: ${meaning}`,
  )
  return ['', 'Exit codes:', ...lines].join('\n')
}
