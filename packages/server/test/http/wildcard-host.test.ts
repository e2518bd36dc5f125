import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { bannerOf } from '@bursar/sandbox'
import { configOf, startTestService } from '../../../../test/support/harness.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)

test('a sandbox that listens on every address names one that callers can use', async () => {
  const wildcards = [
    { HOST: '0.0.0.0', own: '127.0.0.1' },
    ...(hasIpv6 ? [{ HOST: '::', own: '[::1]' }] : []),
  ]
  for (const { HOST, own } of wildcards) {
    const service = await startTestService({ env: { HOST } })
    assert.match(service.url, /:\d+$/)
    assert.equal(new URL(service.url).hostname, own)
    const { issuer } = (await service.call('/.well-known/oauth-authorization-server')).body
    assert.equal(issuer, service.url)
    const { status } = await service.call('/v2/transfer/fiat-accounts?limit=1')
    assert.equal(status, 200)
    await service.stop()
  }
})

test('the banner says if every machine of the network can use the sandbox', () => {
  const told =
    /listens on +0.0.0.0, so every machine of the network can use this sandbox;\n +set BURSAR_PUBLIC_URL/
  const banner = (env: Readonly<Record<string, string>>) =>
    bannerOf('http://127.0.0.1:8080', {}, undefined, configOf(env))
  assert.match(banner({ HOST: '0.0.0.0' }), told)
  assert.doesNotMatch(banner({ HOST: '127.0.0.1' }), /listens on/)
  const named = { HOST: '0.0.0.0', BURSAR_PUBLIC_URL: 'http://127.0.0.1:9000' }
  assert.doesNotMatch(banner(named), /listens on/)
})
