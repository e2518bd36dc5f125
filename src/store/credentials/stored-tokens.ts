import type { CredentialStore } from '../credentials.ts'
import type { Session } from '../session.ts'
import type { CredentialSessions } from './credential-sessions.ts'

/** Tokens that are refused, and assertions that were used. Each is kept until it expires. */
export function tokenMethods({ change, write, tableName }: CredentialSessions) {
  const [denied, used] = [tableName('denied_token'), tableName('used_assertion')]
  const forget = (session: Session, table: string, now: bigint) =>
    session.rows({ text: `delete from ${table} where expires_at <= $1`, values: [now] })
  return {
    denyToken: (jti, expiresAt, now) =>
      change(async (session) => {
        await forget(session, denied, now)
        await session.rows({
          text: `insert into ${denied} (jti, expires_at) values ($1, $2) on conflict do nothing`,
          values: [jti, expiresAt],
        })
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
