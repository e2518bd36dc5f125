import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { describeService } from '../support/describe-service.ts'
import { acme } from '../support/harness.ts'

const service = describeService({ store: 'sqlite' })

test('Authlib accepts the metadata of OpenID Connect’s place, and gets a token with it', async () => {
  const script = new URL('authlib_client.py', import.meta.url).pathname
  const words = [script, service.url, acme.clientId, acme.clientSecret]
  const { stdout } = await promisify(execFile)('/usr/bin/python3', words)
  const { scope, accounts } = JSON.parse(stdout)
  assert.match(scope, /transfer:read_fiat_account/)
  assert.equal(accounts, 2)
})
