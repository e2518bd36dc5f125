import type { ClientMark, SealMark } from '../credentials.ts'
import type { Dialect } from '../dialect.ts'
import { type NamedRow, optionalText, text, whole } from '../row.ts'
import { markedSecrets } from '../schema/mark-tables.ts'
import type { Session } from '../session.ts'

/** Joins the last mark of a client to a row `client`. */
export const joinMark = ({ auditTable }: Dialect): string => `
    left join ${auditTable('client_mark')} as mark on mark.client_id = client.id and mark.number = (
      select max(number) from ${auditTable('client_mark')} as last where last.client_id = client.id)`

/** The mark that is joined, for `readMark`. */
export const markColumn = `mark.number || ' ' || mark.not_before || ' ' || mark.row_seal || ' '
    || mark.seal || ' ' || mark.secrets as mark`

export function readMark(row: NamedRow): ClientMark | undefined {
  const stored = optionalText(row, 'mark')
  if (stored === undefined) return undefined
  const parts = /^(\d+) (\d+) (\S+) (\S+) (.*)$/s.exec(stored)
  // A stranger's row may hold anything; it is no mark.
  if (parts === null) return undefined
  const [, number = '', notBefore = '', rowSeal = '', seal = '', secrets = ''] = parts
  return { number: BigInt(number), notBefore: BigInt(notBefore), rowSeal, secrets, seal }
}

/** Notes what a client is now, in the transaction that has changed it. Returns its mark. */
export async function noteClient(
  session: Session,
  dialect: Dialect,
  clientId: string,
  sealMark: SealMark,
): Promise<ClientMark | undefined> {
  const { tableName, auditTable } = dialect
  const [row] = await session.rows({
    text: `select not_before, seal, ${markedSecrets(dialect, 'client.id')} as secrets,
        (select coalesce(max(number), 0) + 1 from ${auditTable('client_mark')}
          where client_id = client.id) as number
      from ${tableName('client')} as client where id = $1`,
    values: [clientId],
  })
  if (row === undefined) return undefined
  const mark = {
    number: whole(row, 'number'),
    notBefore: whole(row, 'not_before'),
    rowSeal: text(row, 'seal'),
    secrets: text(row, 'secrets'),
  }
  const { number, notBefore, rowSeal, secrets } = mark
  const seal = sealMark(clientId, mark)
  await session.rows({
    text: `insert into ${auditTable('client_mark')}
        (client_id, number, not_before, row_seal, secrets, seal) values ($1, $2, $3, $4, $5, $6)`,
    values: [clientId, number, notBefore, rowSeal, secrets, seal],
  })
  return { ...mark, seal }
}
