import { systemRandom } from '@bursar/base'
import { customerScopes } from '@bursar/contract'
import { createSampleClient } from '@bursar/oauth'
import type { SampleCustomer } from '../../packages/sandbox/src/sample-records.ts'
import type { TestService } from './harness.ts'

/** Adds a customer's client with every scope to a service. */
export async function addCustomerClient(
  { parts }: TestService,
  { customerId, clientId: id, clientSecret: secret }: SampleCustomer,
): Promise<void> {
  const { credentials: store, keyring, clock, oauth } = parts
  await createSampleClient(
    { store, keyring, clock, random: systemRandom },
    { id, secret, customerId, name: customerId, scopes: customerScopes },
  )
  await oauth.refresh()
}
