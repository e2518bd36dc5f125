// Sends every event of a customer to a URL, in order and at least once, signed as Standard Webhooks say.
import { createHmac } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createBursar } from 'bursar-client'

const { BURSAR_URL, CLIENT_ID, CLIENT_SECRET, RECEIVER_URL, SIGNING_KEY, CURSOR_FILE } = process.env
const bursar = createBursar({
  baseUrl: BURSAR_URL,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
})
const key = Buffer.from(SIGNING_KEY.replace(/^whsec_/, ''), 'base64')

async function isTaken(event) {
  const body = JSON.stringify(event)
  const time = Math.floor(Date.now() / 1000)
  const signed = createHmac('sha256', key).update(`${event.id}.${time}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': event.id,
    'webhook-timestamp': `${time}`,
    'webhook-signature': `v1,${signed}`,
  }
  const signal = AbortSignal.timeout(10_000)
  const answer = await fetch(RECEIVER_URL, { method: 'POST', headers, body, signal })
  await answer.body?.cancel()
  return answer.ok
}

const cursor = existsSync(CURSOR_FILE) ? readFileSync(CURSOR_FILE, 'utf8') : undefined
for await (const followed of bursar.events.follow({ cursor })) {
  for (let failed = 0; !(await isTaken(followed.event).catch(() => false)); failed += 1) {
    await delay(Math.min(1000 * 2 ** failed, 60_000) * (1 + Math.random()))
  }
  // Renaming replaces the file in one step. A cursor that was not written yet only repeats events.
  writeFileSync(`${CURSOR_FILE}.new`, followed.cursor, { flush: true })
  renameSync(`${CURSOR_FILE}.new`, CURSOR_FILE)
}
