import { systemRandom } from '@bursar/base'
import { createSampleClient } from '@bursar/oauth'
import { fetchToken, type TestService } from './harness.ts'

/** A token of a new client of the operator, which may be bound to one customer. */
export async function operatorToken(
  { parts, url }: TestService,
  id: string,
  scopes: readonly string[],
  boundTo: string | null = null,
): Promise<string> {
  const { credentials, keyring, clock, oauth } = parts
  const secret = `${id}_secret`
  await createSampleClient(
    { store: credentials, keyring, clock, random: systemRandom },
    { id, secret, customerId: null, boundTo, name: id, scopes },
  )
  await oauth.refresh()
  return fetchToken(url, { customerId: '', clientId: id, clientSecret: secret })
}
