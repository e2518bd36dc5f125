import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ConfigError, commandHint } from '@bursar/base'
import { optionalText, text } from '@bursar/records'
import { type Connection, textArray } from '../driver/connection.ts'
import { identifier, type Roles } from './grants.ts'

/** An object of the schemas, or a right to one. */
type SchemaObject = {
  /** A statement that makes it, if `remove` is defined. */
  readonly form: string
  /** A statement, or an empty text. Undefined for what only a person can mend. */
  readonly remove: string | undefined
}

export type Objects = ReadonlyMap<string, SchemaObject>

/** Digests of objects, by their names. */
type Digests = ReadonlyMap<string, string>

/** How objects differ from those that `migrate` made. */
export type Difference = {
  readonly object: string
  readonly is: 'missing' | 'changed' | 'foreign'
}

const objectsText = readFileSync(new URL('./made-objects.sql', import.meta.url), 'utf8')

/** How PostgreSQL prints expressions depends on these settings, which a pooler may have lost. */
const PINNED = 'set local search_path = pg_catalog; set local quote_all_identifiers = off'

/** The objects and rights of the schemas as they are. In a transaction, whose settings it pins. */
export async function readObjects(session: Connection): Promise<Objects> {
  await session.execute(PINNED)
  const rows = await session.rows({ text: objectsText })
  return new Map(
    rows.map((row) => [
      text(row, 'object'),
      { form: text(row, 'form'), remove: optionalText(row, 'remove') },
    ]),
  )
}

/**
 * Makes the objects anew, beside those of the store, in a transaction, and takes that back. What
 * was changed in the store is thus never taken for what the program makes.
 */
export async function readAnew(owner: Connection, make: () => Promise<void>): Promise<Objects> {
  await owner.execute(`savepoint anew;
    alter schema bursar rename to bursar_as_found;
    alter schema bursar_audit rename to bursar_audit_as_found`)
  await make()
  const made = await readObjects(owner)
  await owner.execute('rollback to savepoint anew; release savepoint anew')
  return made
}

/** Default privileges of a host give further roles rights to what is made. They are not ours. */
export function withoutOthersRights(made: Objects, { app, operator }: Roles): Objects {
  const ours = [app, operator].map(identifier).concat(app, operator, 'public')
  const isOurs = (object: string) => ours.some((role) => object.startsWith(`right of ${role} to `))
  return new Map([...made].filter(([object]) => !isRight(object) || isOurs(object)))
}

const isRight = (object: string): boolean => object.startsWith('right of ')
const isFunction = (object: string): boolean => object.startsWith('function ')

const digestsOf = (objects: Objects): Digests =>
  new Map([...objects].map(([object, { form }]) => [object, hash('sha256', form)]))

/** How objects differ from those that were made. */
export const differences = (found: Objects, made: Objects): readonly Difference[] =>
  compare(digestsOf(found), digestsOf(made))

function compare(found: Digests, made: Digests): readonly Difference[] {
  const names = [...new Set([...made.keys(), ...found.keys()])].toSorted()
  return names.flatMap((object): readonly Difference[] => {
    if (found.get(object) === made.get(object)) return []
    const is = !found.has(object) ? 'missing' : made.has(object) ? 'changed' : 'foreign'
    return [{ object, is }]
  })
}

export function describeDifference({ object, is }: Difference): string {
  if (is === 'missing') return `the ${object} is missing`
  const made = `${commandHint('migrate')} ${isRight(object) ? 'gives' : 'makes'}`
  return is === 'changed'
    ? `the ${object} is not as ${made} it`
    : `the ${object} is not one that ${made}`
}

/** Makes the objects of the store what they must be. Throws a ConfigError that names the rest. */
export async function replaceObjects(
  owner: Connection,
  found: Objects,
  made: Objects,
): Promise<void> {
  const differ = differences(found, made)
  refuseLeft(
    differ.filter(({ object }) => (made.get(object) ?? found.get(object))?.remove === undefined),
  )
  // `create or replace` changes a function that triggers and policies use.
  const removed = differ
    .filter(({ object, is }) => is === 'foreign' || (is === 'changed' && !isFunction(object)))
    .toSorted((one, other) => Number(isFunction(one.object)) - Number(isFunction(other.object)))
    .map(({ object }) => found.get(object)?.remove)
  const added = differ
    .filter(({ is }) => is !== 'foreign')
    .toSorted((one, other) => Number(isFunction(other.object)) - Number(isFunction(one.object)))
    .map(({ object }) => made.get(object)?.form)
  const statements = [...removed, ...added].filter(Boolean)
  if (statements.length > 0) await owner.execute(statements.join(';\n'))
}

/** Throws a ConfigError that names what only a person can mend, if anything. */
export function refuseLeft(left: readonly Difference[]): void {
  if (left.length === 0) return
  throw new ConfigError(
    `The schema differs from the one that this program makes. Mend this as the owner of the database, then run ${commandHint('migrate')} again; nothing was changed:\n${linesOf(left)}`,
  )
}

/** For a message: at most a hundred of them. */
export function linesOf(found: readonly Difference[]): string {
  const rest = found.length - LINES_MAX
  const lines = found.slice(0, LINES_MAX).map(describeDifference)
  return [...lines, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n')
}

const LINES_MAX = 100

/** Keeps the digests of what was made, where only the owner can write them. */
export async function keepDigests(owner: Connection, made: Objects): Promise<void> {
  const digests = [...digestsOf(made), [SERVER, await serverOf(owner)] as const]
  await owner.execute('delete from bursar.made_object')
  await owner.rows({
    text: 'insert into bursar.made_object select * from unnest($1::text[], $2::text[])',
    values: [textArray(digests.map(([name]) => name)), textArray(digests.map(([, to]) => to))],
  })
}

/** The name of the row that says where the digests were computed. No object has it. */
const SERVER = 'server'

/** Another major version prints otherwise. A restored dump is in another cluster or schema. */
async function serverOf(session: Connection): Promise<string> {
  const [row = {}] = await session.rows({
    text: `select concat_ws(' ', current_setting('server_version_num')::integer / 10000,
      system_identifier, 'bursar'::regnamespace::oid) as server from pg_control_system()`,
  })
  return text(row, 'server')
}

/**
 * How the objects differ from the kept digests. Undefined if these were computed by another version
 * of PostgreSQL, or in the database that this one is a copy of. In a transaction.
 */
export async function keptDifferences(
  session: Connection,
): Promise<readonly Difference[] | undefined> {
  const found = await readObjects(session)
  const rows = await session.rows({ text: 'select object, digest from bursar.made_object' })
  const kept = new Map(rows.map((row) => [text(row, 'object'), text(row, 'digest')]))
  const server = kept.get(SERVER)
  kept.delete(SERVER)
  return server === (await serverOf(session)) ? compare(digestsOf(found), kept) : undefined
}
