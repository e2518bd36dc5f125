import type { CredentialStore } from '../credentials.ts'
import { clientColumns, readClient, readDeniedToken } from './credential-rows.ts'
import type { CredentialSessions } from './credential-sessions.ts'
import { clientMethods } from './stored-clients.ts'
import { keyMethods } from './stored-keys.ts'
import { findRecovery, recoveryMethods } from './stored-recovery.ts'
import { tokenMethods } from './stored-tokens.ts'

type Methods = Omit<CredentialStore, 'integrityFaults' | 'close'>

/** The store of credentials over the sessions of an engine. */
export function openCredentials(sessions: CredentialSessions): Methods {
  return {
    ...stateMethods(sessions),
    ...recoveryMethods(sessions),
    ...clientMethods(sessions),
    ...keyMethods(sessions),
    ...tokenMethods(sessions),
    onChange: sessions.onChange,
  }
}

function stateMethods({ read, numberSince, tableName }: CredentialSessions) {
  const [client, denied, key] = ['client', 'denied_token', 'purpose_key'].map(tableName)
  return {
    revision: () => read(async (_, revision) => revision),
    readStates: (now, since) =>
      // The revision was read first, so after a later change the next refresh reads again.
      read(async (session, revision) => {
        const changedAfter = numberSince(since, revision)
        const after = changedAfter ?? -1n
        const clients = await session.rows({
          text: `select ${clientColumns} from ${client} as client where revision > $1
            order by created_at, id`,
          values: [after],
          prepare: true,
        })
        const deniedTokens = await session.rows({
          text: `select jti, max(expires_at) as expires_at from ${denied}
            where expires_at > $1 and revision > $2 group by jti`,
          values: [now, after],
          prepare: true,
        })
        const keys = await session.rows({
          text: `select 1 from ${key} where revision > $1 limit 1`,
          values: [after],
          prepare: true,
        })
        return {
          revision,
          isComplete: changedAfter === undefined,
          clients: clients.map(readClient),
          deniedTokens: deniedTokens.map(readDeniedToken),
          keysChanged: keys.length > 0,
          recovery: await findRecovery(session, tableName),
        }
      }),
  } satisfies Partial<CredentialStore>
}
