import assert from 'node:assert/strict'
import { openBatchQueue } from '../batch-queue.ts'
import type {
  Client,
  ClientMethod,
  ClientSecret,
  ClientWithSecrets,
  CredentialStore,
  NewSecret,
} from '../credentials.ts'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'
import { markedSecrets } from '../schema/mark-tables.ts'
import type { Session } from '../session.ts'
import { joinMark, markColumn, noteClient, readMark } from './client-marks.ts'
import type { CredentialSessions } from './credential-sessions.ts'

export function clientMethods(sessions: CredentialSessions) {
  const { rows, change: changeRow, write, dialect } = sessions
  const [clients, secrets] = [dialect.tableName('client'), dialect.tableName('client_secret')]
  const { insertClient, insertSecret, keepSecrets, raiseNotBefore } = steps(clients, secrets)
  return {
    findClient: openClientBatch(sessions),
    listClients: async () => {
      const found = await rows({
        text: `select ${clientAndSecretColumns} from ${clients} as client ${joinMark(dialect)}
          left join ${secrets} as secret on secret.client_id = client.id
          order by client.created_at, client.id, secret.sequence`,
      })
      return readClientsWithSecrets(found)
    },
    addClient: (client, secret, sealMark) =>
      changeRow(async (session) => {
        if (!(await insertClient(session, client))) return 'taken'
        if (secret !== undefined) await insertSecret(session, client.id, secret)
        await noteClient(session, dialect, client.id, sealMark)
        return 'added'
      }),
    restoreClient: (client, secret, sealMark) =>
      changeRow(async (session) => {
        await keepSecrets(session, client.id, 0)
        await session.rows({ text: `delete from ${clients} where id = $1`, values: [client.id] })
        await insertClient(session, client)
        await insertSecret(session, client.id, secret)
        await noteClient(session, dialect, client.id, sealMark)
      }),
    rotateSecret: (clientId, { secret, previousUntil, notBefore }, sealMark) =>
      changeRow(async (session) => {
        if (!(await raiseNotBefore(session, clientId, notBefore ?? 0n))) return false
        await keepSecrets(session, clientId, previousUntil === undefined ? 0 : 1)
        if (previousUntil !== undefined) {
          // A secret that expires earlier keeps its time.
          await session.rows({
            text: `update ${secrets} set expires_at = $2
              where client_id = $1 and (expires_at is null or expires_at > $2)`,
            values: [clientId, previousUntil],
          })
        }
        await insertSecret(session, clientId, secret)
        await noteClient(session, dialect, clientId, sealMark)
        return true
      }),
    changeClient: (clientId, change, sealMark) =>
      changeRow(async (session) => {
        const [row] = await session.rows({
          text: lockClient(dialect),
          values: [clientId],
        })
        const changed = row && change(readClient(row), text(row, 'marked_secrets'))
        if (changed === undefined) return undefined
        const { name, scopes, disabledAt = null, notBefore, seal } = changed
        await session.rows({
          text: `update ${clients} set name = $2, scopes = $3, disabled_at = $4, not_before = $5,
            seal = $6 where id = $1`,
          values: [clientId, name, scopes.join(' '), disabledAt, notBefore, seal],
        })
        return { ...changed, mark: await noteClient(session, dialect, clientId, sealMark) }
      }),
    rehashSecret: (clientId, { secretId, before, after }, isOwn, sealMark) =>
      changeRow(async (session) => {
        const [row] = await session.rows({ text: lockClient(dialect), values: [clientId] })
        if (row === undefined || !isOwn(readClient(row), text(row, 'marked_secrets'))) return
        await session.rows({
          text: `update ${secrets} set hash = $4 where client_id = $1 and id = $2 and hash = $3`,
          values: [clientId, secretId, before, after],
        })
        await noteClient(session, dialect, clientId, sealMark)
      }),
    // Locks the client before its secret, as a rotation does, so that the two cannot deadlock.
    recordUse: (clientId, secretId, at) =>
      write(async (session) => {
        await session.rows({
          text: `update ${clients} set last_used_at = $2 where id = $1`,
          values: [clientId, at],
        })
        if (secretId === undefined) return
        await session.rows({
          text: `update ${secrets} set last_used_at = $2 where id = $1`,
          values: [secretId, at],
        })
      }),
  } satisfies Partial<CredentialStore>
}

/**
 * Finds clients by id, those of one turn of the event loop in one statement, which begins after all
 * of them were requested. It reads the secrets of an unknown client too, so that both cases take
 * the same time.
 */
function openClientBatch({
  rows,
  dialect,
  waitMs,
  metrics,
}: CredentialSessions): CredentialStore['findClient'] {
  const { tableName, parameter, list, entriesOf } = dialect
  const text = `
    select ${clientAndSecretColumns}
    from ${entriesOf(parameter(1, 'text[]'))}
    left join ${tableName('client')} as client on client.id = entry.value ${joinMark(dialect)}
    left join ${tableName('client_secret')} as secret on secret.client_id = entry.value
    order by secret.sequence`
  return openBatchQueue({
    name: 'clients',
    metrics,
    run: async (batch) => {
      const ids = new Set(batch.map(({ request }) => request))
      const found = readClientsWithSecrets(
        await rows({ text, values: [list([...ids])], prepare: true }),
      )
      const byId = new Map(found.map((client) => [client.id, client]))
      for (const { request, result } of batch) result.resolve(byId.get(request))
    },
    weightMax: recordsLimits.getsPerStatementMax,
    runningMax: recordsLimits.getStatementsMax,
    startsFullBatches: true,
    waitingMax: recordsLimits.getsWaitingMax,
    waitMs,
  })
}

/** The statements that several of these methods share. */
function steps(clients: string, secrets: string) {
  return {
    /** False if a client already has the id, or the pair of issuer and external id. */
    insertClient: async (session: Session, client: Client): Promise<boolean> => {
      const { method } = client
      const inserted = await session.rows({
        text: `
          insert into ${clients} (id, customer_id, name, scopes, method, jwks, issuer, external_id,
            created_at, not_before, bound_to, seal)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict do nothing returning 1`,
        values: [
          client.id,
          client.customerId,
          client.name,
          client.scopes.join(' '),
          method.kind,
          method.kind === 'keys' ? method.jwks : null,
          method.kind === 'issuer' ? method.issuer : null,
          method.kind === 'issuer' ? method.externalId : null,
          client.createdAt,
          client.notBefore,
          client.boundTo,
          client.seal,
        ],
      })
      return inserted.length > 0
    },
    insertSecret: (session: Session, clientId: string, { id, hash, createdAt }: NewSecret) =>
      session.rows({
        text: `insert into ${secrets} (client_id, id, hash, created_at) values ($1, $2, $3, $4)`,
        values: [clientId, id, hash, createdAt],
      }),
    /** Deletes all but the newest secrets. */
    keepSecrets: (session: Session, clientId: string, kept: 0 | 1) =>
      session.rows({
        text: `delete from ${secrets} where client_id = $1 and sequence not in
          (select sequence from ${secrets} where client_id = $1 order by sequence desc limit $2)`,
        values: [clientId, kept],
      }),
    /** False if the client does not exist. */
    raiseNotBefore: async (session: Session, clientId: string, notBefore: bigint) => {
      const raised = await session.rows({
        text: `update ${clients} set not_before = case when not_before > $2 then not_before else $2 end
          where id = $1 returning 1`,
        values: [clientId, notBefore],
      })
      return raised.length > 0
    },
  }
}

/** The columns of table `client` that `readClient` reads. */
export const clientColumns = `client.id, client.customer_id, client.name, client.scopes,
  client.method, client.jwks, client.issuer, client.external_id, client.created_at,
  client.not_before, client.disabled_at, client.last_used_at, client.bound_to, client.seal,
  ${markColumn}`

/** Reads the client that the first parameter names, and locks it until the commit. */
export const lockClient = (dialect: Dialect): string => `
  select ${clientColumns}, ${markedSecrets(dialect, 'client.id')} as marked_secrets
  from (select * from ${dialect.tableName('client')} where id = $1 ${dialect.forUpdate('wait')})
    as client ${joinMark(dialect)}`

export function readClient(row: NamedRow): Client {
  const scopes = text(row, 'scopes')
  return {
    id: text(row, 'id'),
    customerId: optionalText(row, 'customer_id') ?? null,
    boundTo: optionalText(row, 'bound_to') ?? null,
    name: text(row, 'name'),
    scopes: scopes === '' ? [] : scopes.split(' '),
    method: readMethod(row),
    createdAt: whole(row, 'created_at'),
    notBefore: whole(row, 'not_before'),
    disabledAt: optionalWhole(row, 'disabled_at'),
    lastUsedAt: optionalWhole(row, 'last_used_at'),
    seal: text(row, 'seal'),
    mark: readMark(row),
  }
}

function readMethod(row: NamedRow): ClientMethod {
  const kind = text(row, 'method')
  if (kind === 'keys') return { kind, jwks: text(row, 'jwks') }
  if (kind === 'issuer') {
    return { kind, issuer: text(row, 'issuer'), externalId: text(row, 'external_id') }
  }
  assert(kind === 'secret', 'This version does not know the method of a stored client.')
  return { kind }
}

/** Columns of tables `client` and `secret`, joined, that `readClientsWithSecrets` reads. */
const clientAndSecretColumns = `${clientColumns}, secret.id as secret_id,
  secret.hash, secret.created_at as secret_created_at, secret.last_used_at as secret_last_used_at,
  secret.expires_at as secret_expires_at`

/** Reads rows of one client and one secret each. A row without a client is skipped. */
function readClientsWithSecrets(rows: readonly NamedRow[]): ClientWithSecrets[] {
  const clients = new Map<string, Client & { readonly secrets: ClientSecret[] }>()
  for (const row of rows) {
    const id = optionalText(row, 'id')
    if (id === undefined) continue
    const client = clients.get(id) ?? { ...readClient(row), secrets: [] }
    clients.set(id, client)
    if (row.secret_id === null) continue
    client.secrets.push({
      id: text(row, 'secret_id'),
      hash: text(row, 'hash'),
      createdAt: whole(row, 'secret_created_at'),
      expiresAt: optionalWhole(row, 'secret_expires_at'),
      lastUsedAt: optionalWhole(row, 'secret_last_used_at'),
    })
  }
  return [...clients.values()]
}
