import type { Dialect } from '../dialect.ts'
import type { MergeOrigin } from '../records/import.ts'
import { whole } from '../row.ts'
import type { Session } from '../session.ts'

/** The command of an origin that has withdrawn a record, because another one took a value of it. */
export const TAKE_OVER = 'take-over'

type Names = Pick<Dialect, 'tableName' | 'parameter'>

/** Stores who stores the records of a file of the merge, for the versions that it stores. */
export async function noteOrigin(
  session: Session,
  names: Names,
  file: number,
  { from, linesBefore, takesOver }: Noted,
): Promise<void> {
  const isUsual = 'clientId' in from && linesBefore === null && !takesOver
  if (isUsual && (await noteKnown(session, names, file, from))) return
  const { tableName } = names
  const taker = takesOver ? await storeOrigin(session, tableName, from, TAKE_OVER) : null
  const values = [file, await storeOrigin(session, tableName, from), linesBefore, taker]
  const text = 'insert into staged_origin values ($1, $2, $3, $4)'
  await session.rows({ text, values, prepare: true })
}

type Noted = {
  readonly from: MergeOrigin['from']
  /** Null for records that come by themselves. */
  readonly linesBefore: number | null
  readonly takesOver: boolean
}

type Client = Extract<MergeOrigin['from'], { readonly clientId: string }>

/** Notes an origin that is stored, in one statement. Returns false for another. */
async function noteKnown(
  session: Session,
  { tableName, parameter }: Names,
  file: number,
  { command, clientId }: Client,
): Promise<boolean> {
  const noted = await session.rows({
    text: `insert into staged_origin select ${parameter(1, 'integer')}, id, null, null
      from ${tableName('origin')} where command = $2 and client_id = $3 returning file`,
    values: [file, command, clientId],
    prepare: true,
  })
  return noted.length > 0
}

/** Returns the id of an origin. All requests of a client with one command share theirs. */
async function storeOrigin(
  session: Session,
  tableName: Names['tableName'],
  from: MergeOrigin['from'],
  command = 'clientId' in from ? from.command : 'import',
): Promise<bigint> {
  const table = tableName('origin')
  const clientId = 'clientId' in from ? from.clientId : null
  const find = {
    text: `select id from ${table} where command = $1 and client_id = $2`,
    values: [command, clientId],
    prepare: true,
  }
  const [known] = clientId === null ? [] : await session.rows(find)
  if (known !== undefined) return whole(known, 'id')
  const [file, user] = 'clientId' in from ? [null, null] : [from.file, from.user]
  // Another process may store the client's first record at this very moment.
  const [inserted] = await session.rows({
    text: `insert into ${table} (command, client_id, file, os_user) values ($1, $2, $3, $4)
      on conflict do nothing returning id`,
    values: [command, clientId, file, user],
  })
  return whole(inserted ?? (await session.rows(find))[0] ?? {}, 'id')
}
