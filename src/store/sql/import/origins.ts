import type { ClientOrigin, ImportOrigin } from '../../records/import.ts'

const columns = ['command', 'client_id', 'file', 'os_user'] as const

/** Adds a row of table `origin`. The parameters are numbered, and `originValues` is their order. */
export const insertOrigin = (table: string, parameter: (number: number) => string): string =>
  `insert into ${table} (${columns.join(', ')})
   values (${columns.map((_column, at) => parameter(at + 1)).join(', ')})`

export const originValues = (
  from: ImportOrigin | ClientOrigin,
  takesOver = false,
): (string | null)[] => {
  const [command, ...who] =
    'clientId' in from
      ? [from.command, from.clientId, null, null]
      : ['import', null, from.file, from.user]
  return [takesOver ? TAKE_OVER : (command ?? null), ...who]
}

/** The command of an origin that has withdrawn a record, because another one took a value of it. */
export const TAKE_OVER = 'take-over'

/** The row of a client, which its requests share. */
export const originOfClient = (table: string, parameter: (number: number) => string): string =>
  `select id from ${table} where command = ${parameter(1)} and client_id = ${parameter(2)}`
