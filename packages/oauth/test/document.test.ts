import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseTrustedIssuers } from '../../base/src/settings/trusted-issuers.ts'
import { clientCommand } from '../../cli/src/client/client.ts'
import { keysCommand } from '../../cli/src/keys/keys.ts'
import { oauthWorld } from './support/oauth-world.ts'

const page = readFileSync(new URL('../../../docs/oauth.md', import.meta.url), 'utf8')

test('docs/oauth.md names every endpoint', async (t) => {
  const { oauth } = await oauthWorld(t)
  for (const { path } of [...oauth.routes(), ...oauth.documents]) assert(page.includes(path), path)
})

test('docs/oauth.md names every command and flag', () => {
  const withCredentials = () => Promise.reject(new Error('not opened'))
  const deps = {
    withCredentials,
    reveal: async () => {},
    print: () => undefined,
    tell: () => undefined,
  }
  const common = ['--audit-head', '--database', '--config', '--json']
  for (const group of [clientCommand(deps), keysCommand(deps)]) {
    for (const command of group.commands) {
      assert(page.includes(`${group.name()} ${command.name()}`), command.name())
      const flags = command.options.map(({ long }) => String(long))
      for (const flag of flags) assert(common.includes(flag) || page.includes(flag), flag)
    }
  }
})

test('the trusted issuer of docs/oauth.md is valid', () => {
  const example = /```json\n([\s\S]*?)```/.exec(page)?.[1]
  const parsed = parseTrustedIssuers(JSON.parse(String(example)).trustedIssuers)
  assert('value' in parsed)
  for (const member of Object.keys(parsed.value[0] ?? {}))
    assert(page.includes(`\`${member}\``), member)
})
