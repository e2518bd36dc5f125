import type { CredentialStore } from '../credentials.ts'
import { text } from '../row.ts'
import type { CredentialSessions } from './credential-sessions.ts'

/** The list of the customers' keys that an erasure has destroyed. */
export function destroyedKeyMethods({
  read,
  change,
  dialect,
}: Pick<CredentialSessions, 'read' | 'change' | 'dialect'>) {
  const { auditTable, tableName, isAnyOf, parameter, list } = dialect
  const destroyed = auditTable('destroyed_key')
  return {
    addDestroyedKeys: (fingerprints) =>
      change(async (session) => {
        for (const fingerprint of fingerprints) {
          await session.rows({
            text: `insert into ${destroyed} (fingerprint, revision)
              select $1, value from ${tableName('credential_revision')} where true
              on conflict do nothing`,
            values: [fingerprint],
          })
        }
      }),
    findDestroyedKeys: (fingerprints) =>
      read(async (session) => {
        const found = await session.rows({
          text: `select fingerprint from ${destroyed}
            where ${isAnyOf('fingerprint', parameter(1, 'text[]'))}`,
          values: [list(fingerprints)],
          prepare: true,
        })
        return new Set(found.map((row) => text(row, 'fingerprint')))
      }),
  } satisfies Partial<CredentialStore>
}
