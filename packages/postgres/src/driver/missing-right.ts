import { commandHint } from '@bursar/base'
import { isGranted } from '../schema/grants.ts'

/** The right that a kind of object, or an action, most often lacks. */
const rights: Readonly<Record<string, string>> = {
  database: 'create on database',
  schema: 'usage on schema',
  table: 'select on',
  view: 'select on',
  sequence: 'usage on sequence',
  function: 'execute on function',
  language: 'usage on language',
  type: 'usage on type',
  tablespace: 'create on tablespace',
  'create temporary tables in database': 'temporary on database',
  'set parameter': 'set on parameter',
}

const denied = /^permission denied (?:for|to) (\D+?) "?([^" ]+)"?$/

type Denial = { readonly code?: unknown; readonly message?: unknown; readonly detail?: unknown }

/** The same error, whose message also says what gives the right that the role lacks. */
export function withGrant(error: unknown, role: string): unknown {
  const { code, message, detail } = (error ?? {}) as Denial
  if (code !== '42501') return error
  const [, kind = '', object = ''] = denied.exec(String(message)) ?? []
  const right = /CONNECT privilege/.test(String(detail)) ? 'connect on database' : rights[kind]
  if (right === undefined) return error
  const advice =
    kind !== 'database' && isGranted(object)
      ? `${commandHint('migrate --yes')} with the owner’s URL grants it to the roles that --app-role and --operator-role name`
      : `run \`grant ${right} ${object} to ${role}\` as an administrator`
  const explained = new Error(`${message}; ${advice}`, { cause: error })
  return Object.assign(explained, { name: 'PostgresError', code })
}
