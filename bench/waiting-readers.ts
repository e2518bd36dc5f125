import { setTimeout as passing } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * Readers that wait for events, each asking again when its time is over. They run in a thread of
 * their own, so that what a follower sees is not late because of them.
 */
export type WaitingReaders = {
  readonly url: string
  readonly tokens: readonly string[]
  readonly perToken: number
}

const { url, tokens, perToken } = workerData as WaitingReaders
for (const token of tokens) {
  for (let one = 0; one < perToken; one += 1) void keepWaiting(token)
  await passing(20)
}
parentPort?.postMessage(tokens.length * perToken)

async function keepWaiting(token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  try {
    for (;;) await (await fetch(`${url}/v2/events?wait=30`, { headers })).text()
  } catch {
    // The server has ended.
  }
}
