import { type ControlClient, openControlClient, SandboxError } from './control-client.ts'

export { SandboxError }

/** A customer of the sandbox and the client that gets its tokens. */
export type SandboxCustomer = {
  readonly customerId: string
  readonly clientId: string
  readonly clientSecret: string
  /** Removes the customer with everything that it has. */
  remove(): Promise<void>
}

export type CustomerOptions = {
  /** What every id derives from. Random by default. */
  readonly seed?: string
  /** `sample`: 324 records of all kinds. `none` by default. */
  readonly records?: 'none' | 'sample'
}

/** Instants are RFC 3339, such as `2026-01-31T12:00:00Z`. */
export type SandboxClock = {
  now(): Promise<string>
  set(now: string | Date): Promise<void>
  /** Moves the time forward: tokens and fees expire. */
  advance(seconds: number): Promise<void>
  /** Takes the time of the machine again. */
  real(): Promise<void>
}

/** What happens to the next requests of a customer, as docs/testing.md describes it. */
export type SandboxFault = {
  readonly kind: 'status' | 'delay' | 'cut' | 'truncated' | 'expired_token'
  /** The customer of the sandbox's own client by default. */
  readonly customerId?: string
  /** An `operationId`, or `/oauth2/token`. Every operation under `/v2` by default. */
  readonly operation?: string
  readonly status?: 408 | 429 | 500 | 502 | 503 | 504
  /** Seconds. */
  readonly retryAfter?: number
  readonly delayMs?: number
  /** How many requests fail. 1 by default. */
  readonly times?: number
}

export type Sandbox = {
  readonly url: string
  /** The sandbox's own customer and client. */
  readonly client: SandboxCustomer
  /** Creates another customer, such as one for each test. */
  customer(options?: CustomerOptions): Promise<SandboxCustomer>
  readonly faults: {
    /**
     * Resolves with the fault, which may be removed before it has applied to all of its requests.
     */
    add(fault: SandboxFault): Promise<{ readonly id: string; remove(): Promise<void> }>
    /** Deletes the faults of one customer, or all of them. */
    clear(customerId?: string): Promise<void>
  }
  readonly clock: SandboxClock
  /** Adds and replaces records, by default of the own customer, by the rules of `bursar import`. */
  load(
    kind: string,
    records: readonly object[],
    options?: { readonly customerId?: string },
  ): Promise<{ readonly added: number; readonly changed: number; readonly unchanged: number }>
  /** Saves the whole state, to be restored as often as a test wants. */
  snapshot(): Promise<{ restore(): Promise<void>; remove(): Promise<void> }>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type SandboxOptions = CustomerOptions & {
  /** The time at the start. The machine's by default. */
  readonly clock?: string | Date
}

/** The first Node that runs the sandbox itself. On an older one it gets a separate process. */
const IN_PROCESS_MAJOR_MIN = 24

/** Starts a sandbox with one customer. It ends with `close`, or with an `await using` block. */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const [major = 0] = process.versions.node.split('.').map(Number)
  const { url, close } =
    major >= IN_PROCESS_MAJOR_MIN
      ? await (await import('./sandbox-here.ts')).startSandboxHere()
      : await (await import('./sandbox-process.ts')).startSandboxProcess()
  try {
    const control = openControlClient(url)
    const clock = clockOf(control)
    if (options.clock !== undefined) await clock.set(options.clock)
    const customer = (wanted: CustomerOptions = {}) => createCustomer(control, wanted)
    const client = await customer(options)
    return {
      url,
      client,
      customer,
      clock,
      close,
      faults: faultsOf(control, client),
      load: (kind, records, { customerId = client.customerId } = {}) =>
        control(
          'PUT',
          `records/${kind}?${new URLSearchParams({ customer_id: customerId })}`,
          ndjson(records),
        ),
      snapshot: () => takeSnapshot(control),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const ndjson = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

async function createCustomer(
  control: ControlClient,
  { seed, records = 'none' }: CustomerOptions,
): Promise<SandboxCustomer> {
  type Made = Readonly<Record<'customer_id' | 'client_id' | 'client_secret', string>>
  const made = await control<Made>('POST', 'customers', {
    records,
    ...(seed !== undefined && { seed }),
  })
  return {
    customerId: made.customer_id,
    clientId: made.client_id,
    clientSecret: made.client_secret,
    remove: () => control('DELETE', `customers/${made.customer_id}`),
  }
}

const clockOf = (control: ControlClient): SandboxClock => ({
  now: async () => (await control<{ readonly now: string }>('GET', 'clock')).now,
  set: async (now) => {
    await control('POST', 'clock', { now: now instanceof Date ? now.toISOString() : now })
  },
  advance: async (seconds) => {
    await control('POST', 'clock', { advance_seconds: seconds })
  },
  real: async () => {
    await control('POST', 'clock', { real: true })
  },
})

function faultsOf(control: ControlClient, own: SandboxCustomer): Sandbox['faults'] {
  return {
    add: async ({ customerId = own.customerId, retryAfter, delayMs, ...fault }) => {
      const { id } = await control<{ readonly id: string }>('POST', 'faults', {
        ...fault,
        customer_id: customerId,
        ...(retryAfter !== undefined && { retry_after: retryAfter }),
        ...(delayMs !== undefined && { delay_ms: delayMs }),
      })
      return { id, remove: () => control<void>('DELETE', `faults/${id}`) }
    },
    clear: (customerId) => {
      const query =
        customerId === undefined ? '' : `?${new URLSearchParams({ customer_id: customerId })}`
      return control('DELETE', `faults${query}`)
    },
  }
}

async function takeSnapshot(control: ControlClient) {
  const { id } = await control<{ readonly id: string }>('POST', 'snapshots')
  return {
    restore: async () => {
      await control('POST', `snapshots/${id}/restore`)
    },
    remove: () => control<void>('DELETE', `snapshots/${id}`),
  }
}
