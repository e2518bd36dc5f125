import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { openBackground } from '@bursar/base'
import { until } from '../../../../test/support/until.ts'
import { takeTime, type VirtualTime } from '../../../../test/support/virtual-time.ts'
import type { Environment } from '../../src/schedule/document-parts.ts'
import type { FeeEvent, FeeSourceDeps } from '../../src/sources/fee-event.ts'
import { type FeeRefresher, openFeeRefresher } from '../../src/sources/fee-refresher.ts'
import { now, scheduleWith } from '../sample-basis.ts'

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

export type Stub = { readonly url: string; readonly requests: () => number }

/** An HTTP server with the given answer. It is closed after the test. */
export async function startStub(test: TestContext, answer: Answer): Promise<Stub> {
  let requests = 0
  const server = createServer(async (request, response) => {
    requests += 1
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    answer(request, response, Buffer.concat(chunks).toString())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
  }
}

/** JSON text by method, or a function of the call's parameters. `undefined` is an error reply. */
export type Methods = Readonly<
  Record<string, string | ((params: readonly unknown[]) => string | undefined)>
>

/** A JSON-RPC node. Results are raw JSON text, so that a test controls how numbers are written. */
export function rpcAnswer(methods: Methods): Answer {
  return (_request, response, body) => {
    const calls: { id: number; method: string; params: unknown[] }[] = JSON.parse(body)
    const replies = calls.map(({ id, method, params }) => {
      const known = Object.hasOwn(methods, method) ? methods[method] : undefined
      const result = typeof known === 'function' ? known(params) : known
      return result === undefined
        ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"secret words"}}`
        : `{"jsonrpc":"2.0","id":${id},"result":${result}}`
    })
    // Reversed, because nodes may reorder the replies of a batch.
    json(response, `[${replies.reverse().join(',')}]`)
  }
}

export function json(response: ServerResponse, text: string, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}

export type TestDeps = FeeSourceDeps & {
  readonly events: FeeEvent[]
  readonly advance: (micros: bigint) => void
}

/** A manual clock, a random number that is always 0.5, and the reported events. */
export function testDeps(start = now): TestDeps {
  let time = start
  const events: FeeEvent[] = []
  return {
    clock: () => time,
    random: () => 0.5,
    report: (event) => events.push(event),
    events,
    advance: (micros) => {
      time += micros
    },
  }
}

export type Rig = Disposable & {
  readonly refresher: FeeRefresher
  readonly deps: TestDeps
  readonly time: VirtualTime
  /** Lets time pass until the next run, waits for its end, and returns the pause after it. */
  readonly fire: () => Promise<number>
}

/** A refresher over the sample schedule with overrides, on virtual time until it is disposed of. */
export function startRefresher(
  overrides: unknown,
  deps = testDeps(),
  environment: Environment = {},
): Rig {
  const time = takeTime()
  const schedule = scheduleWith(overrides, environment)
  const background = openBackground()
  const refresher = openFeeRefresher({ ...deps, schedule, acceptsSample: true, background })
  /** Of each job, how long it still pauses; undefined while it runs. */
  const pauses = () =>
    background.states().map(({ next }) => ('at' in next ? toMs(next.at - time.now()) : undefined))
  const shortest = () => Math.min(...pauses().filter((ms) => ms !== undefined))
  return {
    refresher,
    deps,
    time,
    fire: async () => {
      await time.advance(shortest())
      await until(() => !pauses().includes(undefined))
      return shortest()
    },
    [Symbol.dispose]: () => {
      refresher.close()
      time[Symbol.dispose]()
    },
  }
}

const toMs = (micros: bigint): number => Number(micros) / 1000
