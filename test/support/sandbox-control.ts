import { type MovableClock, openMovableClock } from '@bursar/base'
import type { SampleCustomer } from '../../packages/sandbox/src/sample-records.ts'
import { describeService } from './describe-service.ts'
import { type Called, type ServiceOptions, startTestService, type TestService } from './harness.ts'
import type { Item } from './read-all-pages.ts'

/** A sandbox that tests control, on the embedded store. */
export type ControlledSandbox = TestService & {
  /** Calls a path under `/sandbox`. Text is sent as it is, anything else as JSON. */
  control(method: string, path: string, body?: unknown): Promise<Called>
  /** Creates another customer. */
  customer(wanted?: object): Promise<SampleCustomer>
}

type Controlled = { readonly env?: ServiceOptions['env']; readonly clock?: MovableClock }

const optionsOf = ({ env = {}, clock = openMovableClock() }: Controlled): ServiceOptions => ({
  control: clock,
  env,
  store: 'sqlite',
})

export const startControlledSandbox = async (
  options: Controlled = {},
): Promise<ControlledSandbox> => controlled(await startTestService(optionsOf(options)))

/** A sandbox that the tests of a file control. `prepare` runs as soon as it is started. */
export const describeSandbox = (
  options: Controlled = {},
  prepare?: () => Promise<void>,
): ControlledSandbox => controlled(describeService(optionsOf(options), prepare))

function controlled(service: TestService): ControlledSandbox {
  const control: ControlledSandbox['control'] = (method, path, body) =>
    service.call(path, {
      as: null,
      method,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  // Assigned, not spread, because the members of a service that has not started throw.
  return Object.assign(service, {
    control,
    customer: async (wanted = {}) => {
      const { status, text, body } = await control('POST', '/sandbox/customers', wanted)
      if (status !== 201) throw new Error(`no customer: ${text}`)
      const { customer_id: customerId, client_id: clientId, client_secret: clientSecret } = body
      return { customerId, clientId, clientSecret }
    },
  })
}

/** What a request with an expired token of a customer is answered, at a path. */
export const expiredAnswer = (instance: string) => ({
  status: 401,
  detail: 'the access token has expired; get a new one',
  instance,
  headers: {
    'www-authenticate':
      'Bearer error="invalid_token", error_description="the access token has expired"',
  },
})

/** Records as NDJSON. */
export const ndjson = (...records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

/** The ids of the first page of fiat accounts. */
export const accountIds = ({ body }: Called): readonly string[] =>
  body.items.map(({ id }: Item) => id)
