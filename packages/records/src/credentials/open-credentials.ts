import type { CredentialStore } from '../credentials.ts'
import { text, whole } from '../row.ts'
import type { Session } from '../session.ts'
import { joinMark } from './client-marks.ts'
import type { CredentialSessions } from './credential-sessions.ts'
import { clientColumns, clientMethods, readClient } from './stored-clients.ts'
import { erasureMethods } from './stored-erasures.ts'
import { keyMethods } from './stored-keys.ts'
import { findRecovery, recoveryMethods } from './stored-recovery.ts'

type Methods = Omit<CredentialStore, 'integrityFaults' | 'close'>

/** The store of credentials over the sessions of an engine. */
export function openCredentials(sessions: CredentialSessions): Methods {
  return {
    ...stateMethods(sessions),
    ...recoveryMethods(sessions),
    ...erasureMethods(sessions),
    ...clientMethods(sessions),
    ...keyMethods(sessions),
    ...tokenMethods(sessions),
    onChange: sessions.onChange,
  }
}

function stateMethods({ rows, read, numberSince, dialect }: CredentialSessions) {
  const { tableName, auditTable } = dialect
  const ends = auditTable('token_end')
  const [client, denied, key] = ['client', 'denied_token', 'purpose_key'].map(tableName)
  return {
    revision: () => read(async (_, revision) => revision),
    readStates: (now, since) =>
      // The revision was read first, so after a later change the next refresh reads again.
      read(async (session, revision) => {
        const changedAfter = numberSince(since, revision)
        const after = changedAfter ?? -1n
        const clients = await session.rows({
          text: `select ${clientColumns} from ${client} as client ${joinMark(dialect)} where revision > $1
            order by created_at, id`,
          values: [after],
          prepare: true,
        })
        const deniedTokens = await session.rows({
          // All of them are read from the audit log too, where nobody can delete one.
          text: `select jti, max(expires_at) as expires_at from (
              select jti, expires_at from ${denied} where expires_at > $1 and revision > $2
              union all
              select jti, expires_at from ${ends} where expires_at > $1 and $2 < 0
            ) as refused group by jti`,
          values: [now, after],
          prepare: true,
        })
        const keys = await session.rows({
          text: `select 1 from ${key} where revision > $1 limit 1`,
          values: [after],
          prepare: true,
        })
        const destroyed = await session.rows({
          text: `select 1 from ${auditTable('destroyed_key')} where revision > $1 limit 1`,
          values: [after],
          prepare: true,
        })
        return {
          revision,
          isComplete: changedAfter === undefined,
          clients: clients.map(readClient),
          deniedTokens: deniedTokens.map((row) => ({
            jti: text(row, 'jti'),
            expiresAt: whole(row, 'expires_at'),
          })),
          keysChanged: keys.length > 0,
          keysDestroyed: destroyed.length > 0,
          recovery: await findRecovery(session, tableName),
        }
      }),
    findPutBack: async (now) => {
      const tokens = await rows({
        text: `select count(*) as tokens from ${ends} as ended where expires_at > $1
          and not exists (select 1 from ${denied} as known where known.jti = ended.jti)`,
        values: [now],
      })
      const keys = await rows({
        text: `select key.id from ${key} as key join ${auditTable('key_end')} as ended
          on ended.id = key.id where key.revoked_at is null order by key.id`,
      })
      return {
        keys: keys.map((row) => text(row, 'id')),
        tokens: Number(whole(tokens[0] ?? {}, 'tokens')),
      }
    },
  } satisfies Partial<CredentialStore>
}

/** Tokens that are refused, and assertions that were used. Each is kept until it expires. */
function tokenMethods({ change, write, dialect }: CredentialSessions) {
  const { tableName, auditTable } = dialect
  const [denied, used] = [tableName('denied_token'), tableName('used_assertion')]
  const forget = (session: Session, table: string, now: bigint) =>
    session.rows({ text: `delete from ${table} where expires_at <= $1`, values: [now] })
  return {
    denyToken: (jti, expiresAt, now) =>
      change(async (session) => {
        await forget(session, denied, now)
        for (const table of [denied, auditTable('token_end')]) {
          await session.rows({
            text: `insert into ${table} (jti, expires_at) values ($1, $2) on conflict do nothing`,
            values: [jti, expiresAt],
          })
        }
      }),
    useAssertion: (clientId, jti, expiresAt, now) =>
      write(async (session) => {
        await forget(session, used, now)
        const inserted = await session.rows({
          text: `insert into ${used} (client_id, jti, expires_at) values ($1, $2, $3)
            on conflict do nothing returning 1`,
          values: [clientId, jti, expiresAt],
        })
        return inserted.length > 0
      }),
  } satisfies Partial<CredentialStore>
}
