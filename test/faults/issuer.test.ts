import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPlace } from '../support/harness.ts'
import { type Program, startProgram } from '../support/program.ts'
import { withoutAuditHeads } from '../support/without-audit-heads.ts'

/** Servers in separate processes, on one database and on different ports. */

const running = new Set<Program>()
after(() => Promise.all([...running].map((program) => program.kill('SIGKILL'))))

function serve(env: Readonly<Record<string, string>>): Program {
  const program = startProgram(['serve', '--json'], {
    env: { ...env, PORT: '0', LOG_LEVEL: 'warn', BURSAR_ACCEPT_SAMPLE_FEES: 'true' },
  })
  running.add(program)
  return program
}

test('servers agree on the issuer, and a killed one leaves no claim', async (t) => {
  const place = await openPlace('postgres')
  t.after(place.remove)
  const first = serve(place.env)
  const { url } = JSON.parse(await first.firstLine)

  const derived = serve(place.env)
  assert.equal(await derived.ended, 2)
  assert.equal(derived.output(), '')
  assert.match(
    withoutAuditHeads(derived.errors()),
    new RegExp(`^Another process serves this store as ${url}, and this one would .*\n$`),
  )

  const set = serve({ ...place.env, BURSAR_PUBLIC_URL: 'https://api.example.com' })
  await set.firstLine
  const { level, issuer, other } = JSON.parse(withoutAuditHeads(set.errors()))
  assert.deepEqual([level, issuer, other], ['warn', 'https://api.example.com', url])

  await Promise.all([first.kill('SIGKILL'), set.kill('SIGKILL')])
  const next = serve(place.env)
  await next.firstLine
  assert.equal(withoutAuditHeads(next.errors()), '')
  assert.equal(await next.kill(), 0)
})
