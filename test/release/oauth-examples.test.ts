import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { describeService } from '../support/describe-service.ts'
import { acme } from '../support/harness.ts'

/** Runs each client of examples/oauth against a service. CI has every language. */

const service = describeService()

describe('the clients of examples/oauth', () => {
  for (const [program, ...words] of [
    [process.execPath, 'client.mjs'],
    ['/usr/bin/python3', 'client.py'],
    ['go', 'run', 'client.go'],
    ['java', 'Client.java'],
    ['php', 'client.php'],
  ] as const) {
    const isMissing = spawnSync('which', [program]).status !== 0
    const skip = isMissing && process.env.CI !== 'true'
    const run = (secret: string) =>
      promisify(execFile)(program, words, {
        cwd: 'examples/oauth',
        env: {
          ...process.env,
          BURSAR_URL: service.url,
          CLIENT_ID: acme.clientId,
          CLIENT_SECRET: secret,
        },
      })

    test(`${words.at(-1)} gets a token and reads a page`, { skip }, async () => {
      assert.equal((await run(acme.clientSecret)).stdout, '2 accounts\n')
    })

    test(`${words.at(-1)} fails with a wrong secret`, { skip }, async () => {
      await assert.rejects(run('wrong'))
    })
  }
})
