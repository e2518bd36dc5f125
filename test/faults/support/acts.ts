import { systemTime } from '@bursar/base'
import { disableClient } from '@bursar/oauth'
import { withdrawal } from '../../support/operation-calls.ts'
import { type Answer, send } from './client.ts'
import { credentialsOf, type Deployment } from './cluster.ts'

/** Requests that change something. An acknowledged change must never be lost. */

export const quote = (url: string, token: string | undefined): Promise<Answer> =>
  send(url, '/v2/transfer/fees/crypto-withdrawal', {
    method: 'POST',
    token,
    body: JSON.stringify(withdrawal),
  })

/** Consumes a quote of customer ash for a withdrawal. */
export const consume = (
  url: string,
  token: string,
  id: string,
  reference: string,
): Promise<Answer> =>
  send(url, `/ingest/v1/fees/${id}/consume`, {
    method: 'POST',
    token,
    body: JSON.stringify({ customer_id: 'ash', ...withdrawal, withdrawal: reference }),
  })

export const revoke = (url: string, client: string, token: string): Promise<Answer> =>
  send(url, '/oauth2/revoke', { method: 'POST', body: `${credentialsOf(client)}&token=${token}` })

/** True once the change is acknowledged. */
export async function disable({ stores }: Deployment, client: string): Promise<boolean> {
  const store = stores.credentials()
  const keyring = await stores.keyring(store)
  const done = await disableClient({ store, keyring, clock: systemTime.now }, client)
  return !('refused' in done)
}
