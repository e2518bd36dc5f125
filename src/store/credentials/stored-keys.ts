import type { PurposeKeyStore } from '../../vault/purpose-key.ts'
import { keyColumns, keyValues, readPurposeKeys } from './credential-rows.ts'
import type { CredentialSessions } from './credential-sessions.ts'

export function keyMethods({ read, change, tableName }: CredentialSessions): PurposeKeyStore {
  const keys = tableName('purpose_key')
  return {
    readPurposeKeys: () =>
      read(async (session) => {
        const text = `select ${keyColumns} from ${keys} order by sequence`
        return readPurposeKeys(await session.rows({ text }))
      }),
    addPurposeKey: (key, joining) =>
      change(async (session) => {
        if (joining === 'if-none') {
          const text = `select 1 from ${keys} where purpose = $1 limit 1`
          const found = await session.rows({ text, values: [key.purpose] })
          if (found.length > 0) return false
        }
        await session.rows({
          text: `insert into ${keys} (${keyColumns}) values ($1, $2, $3, $4, $5, $6, $7)`,
          values: keyValues(key),
        })
        if (joining === 'instead') {
          await session.rows({
            text: `update ${keys} set revoked_at = $1
              where purpose = $2 and id <> $3 and revoked_at is null`,
            values: [key.createdAt, key.purpose, key.id],
          })
        }
        return true
      }),
    rewrapPurposeKeys: (rewrapped) =>
      change(async (session) => {
        for (const { id, wrapped, masterId } of rewrapped) {
          await session.rows({
            text: `update ${keys} set wrapped = $2, master_id = $3 where id = $1`,
            values: [id, wrapped, masterId],
          })
        }
      }),
  }
}
