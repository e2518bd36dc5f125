import type { Erasure, ErasureStore } from '../credentials.ts'
import { type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'
import { joinMark, noteClient } from './client-marks.ts'
import type { CredentialSessions } from './credential-sessions.ts'
import { destroyedKeyMethods } from './destroyed-keys.ts'
import { clientColumns, lockClient, readClient } from './stored-clients.ts'

/** The list of erasures, and what becomes of the clients of an erased customer. */
export function erasureMethods(sessions: CredentialSessions): ErasureStore {
  const { rows, write, change: changeRow, dialect } = sessions
  const { tableName } = dialect
  const erasures = tableName('erasure')
  const clients = tableName('client')
  const columns = 'customer_id, begun_at, ended_at, removed'
  return {
    ...destroyedKeyMethods(sessions),
    listErasures: async () => {
      const text = `select ${columns} from ${erasures} order by begun_at, customer_id`
      return (await rows({ text })).map(readErasure)
    },
    beginErasure: (begun) =>
      write(async (session) => {
        const { customerId, begunAt, removed } = begun
        const [open] = await session.rows({
          text: `select ${columns} from ${erasures} where customer_id = $1 and ended_at is null
            order by begun_at limit 1`,
          values: [customerId],
        })
        if (open !== undefined) return readErasure(open)
        await session.rows({
          text: `insert into ${erasures} (customer_id, begun_at, removed) values ($1, $2, $3)`,
          values: [customerId, begunAt, JSON.stringify(removed)],
        })
        return { ...begun, endedAt: undefined }
      }),
    endErasure: ({ customerId, begunAt, endedAt = null, removed }) =>
      write(async (session) => {
        await session.rows({
          text: `update ${erasures} set ended_at = $3, removed = $4
            where customer_id = $1 and begun_at = $2`,
          values: [customerId, begunAt, endedAt, JSON.stringify(removed)],
        })
      }),
    clientsOf: async (customerId) => {
      const found = await rows({
        text: `select ${clientColumns} from ${clients} as client ${joinMark(dialect)}
          where customer_id = $1 or bound_to = $1 order by created_at, id`,
        values: [customerId],
      })
      return found.map(readClient)
    },
    eraseClient: (clientId, change, sealMark) =>
      changeRow(async (session) => {
        const [row] = await session.rows({
          text: lockClient(dialect),
          values: [clientId],
        })
        if (row === undefined) return
        const { name, scopes, disabledAt = null, notBefore, seal } = change(readClient(row))
        await session.rows({
          text: `update ${clients} set name = $2, scopes = $3, method = 'secret', jwks = null,
            issuer = null, external_id = null, disabled_at = $4, not_before = $5, seal = $6
            where id = $1`,
          values: [clientId, name, scopes.join(' '), disabledAt, notBefore, seal],
        })
        for (const table of ['client_secret', 'used_assertion'].map(tableName)) {
          await session.rows({
            text: `delete from ${table} where client_id = $1`,
            values: [clientId],
          })
        }
        await noteClient(session, dialect, clientId, sealMark)
      }),
  }
}

const readErasure = (row: NamedRow): Erasure => ({
  customerId: text(row, 'customer_id'),
  begunAt: whole(row, 'begun_at'),
  endedAt: optionalWhole(row, 'ended_at'),
  removed: JSON.parse(optionalText(row, 'removed') ?? '{}'),
})
