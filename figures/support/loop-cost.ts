import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

/**
 * Measures what a request costs the event loop of a service in this thread: the processor time of
 * the thread, from the request's first byte to the last byte of its answer. The client runs in a
 * thread of its own, so neither it nor the thread pool counts, and a busy machine changes little.
 */
export type CostMeter = {
  costOf(request: Uint8Array, msMax?: number, triesMax?: number): Promise<Cost>
  /** The processor time for which the loop serves nobody else at a time, in milliseconds. */
  holdOf(request: Uint8Array, msMax?: number, triesMax?: number): Promise<Cost>
  close(): Promise<void>
}

export type Cost = {
  readonly status: number
  /** The least of the tries, because other threads evict this one from the processor's caches. */
  readonly ms: number
}

/** Fewer than the guesses that one address may make. */
const TRIES = 9

export async function openCostMeter(url: string): Promise<CostMeter> {
  const port = Number(new URL(url).port)
  const worker = new Worker(new URL(import.meta.url))
  await once(worker, 'message')
  const costOfOne = async (request: Uint8Array): Promise<Cost> => {
    const answered = once(worker, 'message')
    const before = usage()
    worker.postMessage({ port, request } satisfies Sent)
    const [status] = await answered
    return { status: Number(status), ms: msSince(before) }
  }
  const holdOfOne = async (request: Uint8Array): Promise<Cost> => {
    let isAnswered = false
    const answered = once(worker, 'message').finally(() => {
      isAnswered = true
    })
    worker.postMessage({ port, request } satisfies Sent)
    let ms = 0
    for (let before = usage(); !isAnswered; before = usage()) {
      await turn()
      ms = Math.max(ms, msSince(before))
    }
    const [status] = await answered
    return { status: Number(status), ms }
  }
  /** Tries until the cost is at most `msMax`. */
  const leastOf =
    (measure: (request: Uint8Array) => Promise<Cost>): CostMeter['costOf'] =>
    async (request, msMax = 0, triesMax = TRIES) => {
      let least = await measure(request)
      for (let tries = 1; tries < triesMax && least.ms > msMax; tries += 1) {
        const cost = await measure(request)
        if (cost.ms < least.ms) least = cost
      }
      return least
    }
  return {
    costOf: leastOf(costOfOne),
    holdOf: leastOf(holdOfOne),
    close: async () => {
      await worker.terminate()
    },
  }
}

/** The processor time of work in this thread, in milliseconds: the least of the tries. */
export async function msOf(work: () => unknown, tries = TRIES): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let done = 0; done < tries; done += 1) {
    const before = usage()
    await work()
    least = Math.min(least, msSince(before))
  }
  return least
}

/**
 * How much slower this processor is now than a quiet core of the machine that the bounds were set
 * on; at least 1. A slow or shared processor gets as much more time.
 */
export async function slowness(): Promise<number> {
  return Math.max(1, (await msOf(fixedWork)) / QUIET_MS)
}

const QUIET_MS = 5
const sample = JSON.stringify(
  Array.from({ length: 400 }, (_, at) => ({ id: `id-${at}`, amount: String(at * 7), tags: [at] })),
)

function fixedWork(): number {
  let length = 0
  for (let round = 0; round < 10; round += 1) {
    const text = JSON.stringify(JSON.parse(sample)).replace(/[a-c]+-/g, 'x')
    length += text.split(',').toSorted().length
  }
  return length
}

const msSince = (before: NodeJS.CpuUsage): number => {
  const { user, system } = usage(before)
  return (user + system) / 1000
}

const word = new Int32Array(new SharedArrayBuffer(4))

/** Linux adds a thread's time up when the thread stops running, so this stops it for a moment. */
function usage(before?: NodeJS.CpuUsage): NodeJS.CpuUsage {
  Atomics.wait(word, 0, 0, 0.1)
  return process.threadCpuUsage(before)
}

type Sent = { readonly port: number; readonly request: Uint8Array }

if (!isMainThread) sendRequests()

/** The client: sends one request at a time, over one connection while that stays open. */
function sendRequests(): void {
  let socket: Socket | undefined
  parentPort?.on('message', async ({ port, request }: Sent) => {
    if (socket === undefined || socket.destroyed || socket.readableEnded) {
      socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
    }
    parentPort?.postMessage(await statusOf(socket, request))
  })
  parentPort?.postMessage('ready')
}

/** Resolves with the status once the answer is complete, or 0 when the connection closes. */
function statusOf(socket: Socket, request: Uint8Array): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  let received = ''
  const read = (chunk: Buffer) => {
    received += chunk.toString('latin1')
    const head = received.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(received.slice(0, head))?.[1] ?? 0)
    if (received.length >= head + 4 + length) end()
  }
  const end = () => {
    socket.off('data', read)
    socket.off('close', end)
    // A refusal may close the connection before the whole request is taken.
    if (/\r\nconnection: close/i.test(received)) socket.destroy()
    resolve(Number(received.slice(9, 12)))
  }
  socket.on('data', read)
  socket.on('close', end)
  socket.write(request)
  return promise
}
