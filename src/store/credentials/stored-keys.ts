import { type PurposeKeyStore, purposes, type WrappedKey } from '../../vault/purpose-key.ts'
import { type NamedRow, optionalWhole, text, whole } from '../row.ts'
import type { CredentialSessions } from './credential-sessions.ts'

type KeySessions = Pick<CredentialSessions, 'read' | 'change' | 'dialect'>

export function keyMethods({ read, change, dialect }: KeySessions): PurposeKeyStore {
  const keys = dialect.tableName('purpose_key')
  return {
    readPurposeKeys: () =>
      read(async (session) => {
        const stored = await session.rows({
          text: `select ${columns} from ${keys} order by sequence`,
        })
        return stored.flatMap(readKey)
      }),
    addPurposeKey: (key, joining) =>
      change(async (session) => {
        if (joining === 'if-none') {
          const text = `select 1 from ${keys} where purpose = $1 limit 1`
          const found = await session.rows({ text, values: [key.purpose] })
          if (found.length > 0) return false
        }
        await session.rows({
          text: `insert into ${keys} (${columns}) values ($1, $2, $3, $4, $5, $6, $7)`,
          values: [
            key.id,
            key.purpose,
            key.wrapped,
            key.masterId,
            key.createdAt,
            key.activeFrom,
            key.revokedAt ?? null,
          ],
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

const columns = 'id, purpose, wrapped, master_id, created_at, active_from, revoked_at'

/** Skips a key with a purpose that only a later version knows; only that version uses the key. */
function readKey(row: NamedRow): readonly WrappedKey[] {
  const purpose = purposes.find((known) => known === row.purpose)
  if (purpose === undefined) return []
  return [
    {
      id: text(row, 'id'),
      purpose,
      wrapped: text(row, 'wrapped'),
      masterId: text(row, 'master_id'),
      createdAt: whole(row, 'created_at'),
      activeFrom: whole(row, 'active_from'),
      revokedAt: optionalWhole(row, 'revoked_at'),
    },
  ]
}
