import type { Finding } from '@bursar/base'
import { type NamedRow, text } from '@bursar/records'
import { type Connection, textArray } from '../driver/connection.ts'
import { safeMessage, sessionRefused } from '../driver/failure.ts'
import {
  endTransactionTimeout,
  fixOf,
  requiredSettings,
  whyRequired,
} from '../driver/required-settings.ts'
import type { SessionSettings } from '../driver/sessions.ts'

/**
 * The settings of a session that are not as they must be, in PostgreSQL's words: one finding for
 * those that are mended in the same way.
 */
export async function settingFindings(
  connection: Connection,
  settings: SessionSettings,
): Promise<readonly Finding[]> {
  const rows = await connection.rows({
    text: `select current_user as role, name, setting, source from pg_settings
      where name = any($1::text[]) order by name`,
    values: [textArray(Object.keys(settings))],
  })
  const others = rows.filter(({ name, setting }) => setting !== String(settings[String(name)]))
  const byFix = Map.groupBy(others, ({ name }) => fixOf(String(name)))
  return [...byFix].map(([fix, found]) => findingOf(found, settings, fix))
}

function findingOf(rows: readonly NamedRow[], settings: SessionSettings, fix: string): Finding {
  const names = rows.map((row) => text(row, 'name'))
  const found = rows.map(
    ({ name, setting, source }) =>
      `${name} = ${setting} (source: ${source}), not ${settings[String(name)]}`,
  )
  return {
    what: `the sessions of role ${text(rows[0] ?? {}, 'role')} have ${found.join(' and ')}`,
    why: [...new Set(names.map(whyRequired))].join(', and '),
    fix,
  }
}

/** Throws a ConfigError with the first finding. */
export async function requireSettings(
  connection: Connection,
  settings: SessionSettings,
): Promise<void> {
  const [finding] = await settingFindings(connection, settings)
  if (finding === undefined) return
  throw sessionRefused(`${capital(finding.what)}: ${finding.why}. ${capital(finding.fix)}.`)
}

/** The same for what every session of a server must have, without reading all of pg_settings. */
export async function requireSession(connection: Connection): Promise<void> {
  const [row] = await connection.query({ text: OTHERS, values: REQUIRED, prepare: true })
  if (String(row?.[0]) !== '0') await requireSettings(connection, requiredSettings)
}

const OTHERS = `
  select count(*), ${endTransactionTimeout} from unnest($1::text[], $2::text[]) as required (name, value)
  where current_setting(required.name) <> required.value`

const REQUIRED = [Object.keys(requiredSettings), Object.values(requiredSettings).map(String)].map(
  textArray,
)

const capital = (sentence: string): string => sentence.charAt(0).toUpperCase() + sentence.slice(1)

/** What a server, or a pooler before it, says to a session that starts with settings. */
export const startRefused = (error: unknown): string =>
  `it refuses the settings with which a session starts (${safeMessage(error)}). If it is a pooler, docs/scaling.md says how to set it up.`
