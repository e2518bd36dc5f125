import type { Dialect } from '../dialect.ts'
import type { MergeOrigin } from '../records/import.ts'
import { whole } from '../row.ts'
import type { Session } from '../session.ts'

/** The command of an origin that has withdrawn a record, because another one took a value of it. */
export const TAKE_OVER = 'take-over'

type Names = Pick<Dialect, 'tableName' | 'parameter'>

/** The number of a file of a merge, and who stores its records. */
export type Noted = {
  readonly file: number
  readonly from: MergeOrigin['from']
  /** Null for records that come by themselves. */
  readonly linesBefore: number | null
  readonly takesOver: boolean
}

/**
 * Stores who stores the records of the files of a merge, for the versions that it stores. New
 * origins of clients are stored in one order, so that two merges do not wait in a circle.
 */
export async function noteOrigins(
  session: Session,
  names: Names,
  files: readonly Noted[],
): Promise<void> {
  const unknown: Noted[] = []
  for (const noted of files) if (!(await noteKnown(session, names, noted))) unknown.push(noted)
  for (const noted of unknown.toSorted(byOrigin)) {
    const { file, from, linesBefore, takesOver } = noted
    const origin = await storeOrigin(session, names.tableName, from)
    const taker = takesOver ? await storeOrigin(session, names.tableName, from, TAKE_OVER) : null
    await session.rows({
      text: 'insert into staged_origin values ($1, $2, $3, $4)',
      values: [file, origin, linesBefore, taker],
      prepare: true,
    })
  }
}

/** By client and command. The command of a take-over comes after the others, as it does here. */
const byOrigin = (one: Noted, other: Noted): number => (keyOf(one) < keyOf(other) ? -1 : 1)

const keyOf = ({ from }: Noted): string =>
  'clientId' in from ? `${from.clientId} ${from.command}` : ''

/** Notes the origin of single records, if it is stored, in one statement. Else returns false. */
async function noteKnown(
  session: Session,
  { tableName, parameter }: Names,
  { file, from, linesBefore, takesOver }: Noted,
): Promise<boolean> {
  if (!('clientId' in from) || linesBefore !== null || takesOver) return false
  const noted = await session.rows({
    text: `insert into staged_origin select ${parameter(1, 'integer')}, id, null, null
      from ${tableName('origin')} where command = $2 and client_id = $3 returning file`,
    values: [file, from.command, from.clientId],
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
