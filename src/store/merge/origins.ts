import type { MergeOrigin } from '../records/import.ts'
import { whole } from '../row.ts'
import type { Session } from '../session.ts'

/** The command of an origin that has withdrawn a record, because another one took a value of it. */
export const TAKE_OVER = 'take-over'

type TableName = (table: string) => string

/** Stores who stores the records of a file of the merge, for the versions that it stores. */
export async function noteOrigin(
  session: Session,
  tableName: TableName,
  file: number,
  { from, linesBefore, takesOver }: Noted,
): Promise<void> {
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

/** Returns the id of an origin. All requests of a client with one command share theirs. */
async function storeOrigin(
  session: Session,
  tableName: TableName,
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
