import { isTrue, optionalText, text } from '@bursar/records'
import type { Connection } from '../driver/connection.ts'
import { refuseHiddenRows } from './grants.ts'
import { allSteps } from './migrate.ts'

/** What `migrate` runs, in its order. */
const made = [...allSteps.map(({ sql }) => sql), refuseHiddenRows].join(';\n')

/** What a function does: comments and white space of its body may differ. */
const functionForm = (header: string, body: string): string =>
  `${header} ${body.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim()}`

const headerOf = (language: string, isDefiner: boolean, settings: readonly string[]): string =>
  [language, ...(isDefiner ? ['definer'] : []), ...settings].join(' ')

/** The functions of the schemas by name. A later step may make one anew. */
const functions = new Map(
  [
    ...made.matchAll(
      /create (?:or replace )?function (bursar\w*\.\w+)\s*\([^)]*\)\s*returns (.*?)\bas (\$\w*\$)(.*?)\3/gs,
    ),
  ].map(([, name = '', header = '', , body = '']) => {
    const language = /\blanguage (\w+)/.exec(header)?.[1] ?? ''
    const settings = [...header.matchAll(/\bset (\w+) = (\w+)/g)].map(
      ([, setting, value]) => `${setting}=${value}`,
    )
    const isDefiner = header.includes('security definer')
    return [name, functionForm(headerOf(language, isDefiner, settings), body)]
  }),
)

/** The same as written and as PostgreSQL prints it, which names a schema unless it is searched. */
const triggerForm = (definition: string): string =>
  definition.toLowerCase().replaceAll(/::\w+|[\s()]|bursar(_audit)?\./g, '')

/** The triggers of the schemas. Without one, a write may not do what it reports. */
const triggers = new Map(
  [...made.matchAll(/create trigger (\w+)[^;]* on (bursar\w*\.\w+)\s[^;]*/g)].map(
    ([definition, name, table]) => [`${name} of ${table}`, triggerForm(definition)],
  ),
)

/** How functions and triggers of the schemas differ from those that `migrate` makes. */
export async function changedObjects(session: Connection): Promise<readonly string[]> {
  const foundFunctions = await session.rows({ text: FUNCTIONS })
  const foundTriggers = await session.rows({ text: TRIGGERS })
  const disabled = foundTriggers.filter((row) => !isTrue(row.is_enabled))
  return [
    ...differences(
      'function',
      functions,
      foundFunctions.map((row) => {
        const settings = optionalText(row, 'settings')?.split(',') ?? []
        const header = headerOf(text(row, 'language'), isTrue(row.is_definer), settings)
        return [text(row, 'name'), functionForm(header, text(row, 'body'))]
      }),
    ),
    ...differences(
      'trigger',
      triggers,
      foundTriggers.map((row) => [text(row, 'name'), triggerForm(text(row, 'definition'))]),
    ),
    ...disabled.map((row) => `the trigger ${text(row, 'name')} is disabled`),
  ]
}

type Named = readonly (readonly [name: string, form: string])[]

function differences(
  what: string,
  expected: ReadonlyMap<string, string>,
  found: Named,
): readonly string[] {
  const names = new Set(found.map(([name]) => name))
  const missing = [...expected.keys()].filter((name) => !names.has(name))
  return [
    ...missing.map((name) => `the ${what} ${name} is missing`),
    ...found.flatMap(([name, form]) => {
      if (expected.get(name) === form) return []
      const fault = expected.has(name) ? 'as this program makes it' : 'one of this program'
      return [`the ${what} ${name} is not ${fault}`]
    }),
  ]
}

const FUNCTIONS = `
  select nspname || '.' || proname as name, lanname as language, prosecdef as is_definer,
    array_to_string(proconfig, ',') as settings, prosrc as body
  from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
  join pg_language on pg_language.oid = prolang
  where nspname in ('bursar', 'bursar_audit')`

const TRIGGERS = `
  select tgname || ' of ' || nspname || '.' || relname as name, tgenabled in ('O', 'A') as is_enabled,
    pg_get_triggerdef(pg_trigger.oid) as definition
  from pg_trigger join pg_class on pg_class.oid = tgrelid
  join pg_namespace on pg_namespace.oid = relnamespace
  where nspname in ('bursar', 'bursar_audit') and not tgisinternal`
