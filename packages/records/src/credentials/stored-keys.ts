import { type PurposeKeyStore, purposes, type WrappedKey } from '@bursar/base'
import { type NamedRow, optionalWhole, text, whole } from '../row.ts'
import type { Session, Value } from '../session.ts'
import type { CredentialSessions } from './credential-sessions.ts'

type KeySessions = Pick<CredentialSessions, 'read' | 'change' | 'dialect'> & {
  /** For the keys of audit lines: those that a revoked key has written are checked too. */
  readonly ignoresEnds?: boolean
}

export function keyMethods({
  read,
  change,
  dialect,
  ignoresEnds = false,
}: KeySessions): PurposeKeyStore {
  const { isAnyOf, parameter, list } = dialect
  const keys = dialect.tableName('purpose_key')
  const ends = dialect.auditTable('key_end')
  const endedAt = ignoresEnds
    ? 'null'
    : `(select revoked_at from ${ends} as ended where ended.id = key.id)`
  /** Nobody can delete the end from the audit log. The first value is its time. */
  const end = async (session: Session, which: string, values: readonly Value[]) => {
    const ended = `where ${which} and revoked_at is null`
    await session.rows({
      text: `insert into ${ends} (id, revoked_at) select id, $1 from ${keys} ${ended}
        on conflict do nothing`,
      values,
    })
    await session.rows({ text: `update ${keys} set revoked_at = $1 ${ended}`, values })
  }
  return {
    readPurposeKeys: () =>
      read(async (session) => {
        const stored = await session.rows({
          text: `select ${columns}, ${endedAt} as ended_at from ${keys} as key order by sequence`,
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
          await end(session, 'purpose = $2 and id <> $3', [key.createdAt, key.purpose, key.id])
        }
        return true
      }),
    endPurposeKeys: (ids, at) =>
      change((session) => end(session, isAnyOf('id', parameter(2, 'text[]')), [at, list(ids)])),
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
      // Nobody can delete it from the audit log.
      revokedAt: optionalWhole(row, 'revoked_at') ?? optionalWhole(row, 'ended_at'),
    },
  ]
}
