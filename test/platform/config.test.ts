import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError, loadConfig } from '../../src/platform/config.ts'
import { temporaryFolder } from '../support/harness.ts'

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

function faultsOf(env: Readonly<Record<string, string>>, file?: string): string[] {
  try {
    loadConfig({ env, file })
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.message.split('\n')
  }
}

test('flags override the environment, the environment the file, and the file the defaults', () => {
  const file = join(folder, 'good.json')
  writeFileSync(file, JSON.stringify({ port: 1, host: '127.0.0.2', logLevel: 'warn' }))
  const config = loadConfig({ flags: { port: '3' }, env: { PORT: '2', HOST: '127.0.0.3' }, file })
  assert.deepEqual(
    [config.port, config.host, config.logLevel, config.tokenLifeSeconds],
    [3, '127.0.0.3', 'warn', 900],
  )
})

test('a setting that the file names twice is a fault', () => {
  const file = join(folder, 'twice.json')
  writeFileSync(file, '{"port": 1, "port": 2}')
  assert.deepEqual(faultsOf({}, file), [`${file} has port twice`])
})

test('a ConfigError names every fault and its source', () => {
  const file = join(folder, 'bad.json')
  writeFileSync(file, JSON.stringify({ prot: 1, tokenLifeSeconds: 5 }))
  const env = {
    DATABASE_URL: 'mysql://x',
    PORT: 'http',
    BURSAR_MASTER_KEY: 'short',
    BURSAR_TRUSTED_PROXIES: '10.0.0.0/33',
    BURSAR_CORS_ORIGINS: 'https://app.example.com/path',
  }
  assert.deepEqual(faultsOf(env, file), [
    `${file} has prot, which is not a setting`,
    'DATABASE_URL must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    'PORT must be a whole number from 0 to 65535',
    'BURSAR_MASTER_KEY must be 32 bytes in base64; make one with `openssl rand -base64 32`',
    'BURSAR_CORS_ORIGINS must be a list of origins such as https://app.example.com',
    'BURSAR_TRUSTED_PROXIES must be a list of IP addresses or CIDR ranges',
    'tokenLifeSeconds in the configuration file must be a whole number from 60 to 3600',
  ])
})

test('a configuration file that exists but cannot be read is a fault', () => {
  const file = join(folder, 'folder.json')
  mkdirSync(file)
  assert.deepEqual(faultsOf({}, file), [`${file} cannot be read`])
  assert.deepEqual(faultsOf({}, join(folder, 'none.json')), [
    `${join(folder, 'none.json')} cannot be read`,
  ])
})

test('no fault quotes a secret', () => {
  assert.ok(!faultsOf({ BURSAR_MASTER_KEY: 'canary-secret' }).join().includes('canary'))
})
