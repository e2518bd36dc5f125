import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openVault, purposes, Secret, systemRandom } from '@bursar/base'
import {
  type CredentialStore,
  NothingChanged,
  type Resealing,
  StoreUnavailable,
} from '@bursar/records'
import { type Command, CommanderError } from 'commander'
import { decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import { until } from '../../../test/support/until.ts'
import { clientCommand } from '../../cli/src/client/client.ts'
import type { CredentialCommandDeps } from '../../cli/src/client/shown-client.ts'
import { keysCommand } from '../../cli/src/keys/keys.ts'
import { createSampleClient } from '../src/clients/clients.ts'
import { requireNoPublishedSecret } from '../src/clients/published-secrets.ts'
import { assertAccepted, assertRefused } from './support/assert-checked.ts'
import { acme, acmeScopes, oauthWorld } from './support/oauth-world.ts'
import { nameOf, runPast } from './support/past-the-program.ts'

type Masters = { masterKey?: Secret; previousMasterKey?: Secret }

/** Nothing is stored of customers. */
const noRecords = {
  countUnderKeys: async () => new Map(),
  rebind: async function* () {},
  walk: async function* () {},
  customersLeft: async () => 0,
  untilWritersEnd: async () => true,
} as unknown as Resealing

/** A server, and commands that open the same store for each run, like another process. */
async function commandWorld(context: TestContext) {
  const world = await oauthWorld(context)
  const { clock, place, keyFile } = world
  const reader = { hasLeft: false }
  const failing: Partial<CredentialStore> = {}
  const run = async (words: string, masters: Masters = {}) => {
    const out: string[] = []
    const errors: string[] = []
    const deps: CredentialCommandDeps = {
      withCredentials: async (_command, _options, work) => {
        const store = { ...(await place.openCredentials()), ...failing }
        const none = { masterKey: undefined, previousMasterKey: undefined }
        const keyring = await openVault({
          store,
          ...none,
          ...masters,
          keyFile,
          clock,
          random: systemRandom,
        })
        const trustedIssuers = ['https://id.example']
        try {
          const audited = { note: () => {} }
          return await work({
            store,
            keyring,
            clock,
            random: systemRandom,
            trustedIssuers,
            audited,
            resealing: () => noRecords,
          })
        } finally {
          await store.close()
        }
      },
      print: (line) => out.push(line),
      tell: (line) => errors.push(line),
      reveal: async (text) => {
        if (reader.hasLeft) throw new Error('stdout cannot be written')
        out.push(text)
      },
    }
    const [first = '', ...rest] = words.match(/"[^"]*"|\S+/g) ?? []
    const command = first === 'client' ? clientCommand(deps) : keysCommand(deps)
    everyCommand(command).forEach((each) => {
      each.exitOverride().configureOutput({ writeErr: (text) => errors.push(text) })
    })
    let exitCode = 0
    try {
      const given = rest.map((word) => word.replaceAll('"', ''))
      await command.parseAsync(given, { from: 'user' })
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error
      exitCode = error.exitCode
    }
    const json = () => JSON.parse(out.join('\n'))
    return { exitCode, out: out.join('\n'), errors: errors.join(''), json }
  }
  const tokenOf = (client_id: string, client_secret: string) =>
    world.token({ client_id, client_secret })
  return { ...world, run, tokenOf, reader, failing }
}

const everyCommand = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(everyCommand),
]

const create = 'client create --customer acme --name "Acme treasury" --json'

test('client create prints one JSON document, and the new client gets a token', async (t) => {
  const { run, tokenOf } = await commandWorld(t)
  const { exitCode, json } = await run(`${create} --scope "transfer:read_fiat_account"`)
  const { client_id, client_secret, ...rest } = json()
  assert.equal(exitCode, 0)
  assert.match(client_id, /^client_[0-9A-Za-z]{22}$/)
  assert.match(client_secret, /^bursar_secret_[0-9A-Za-z]{43}$/)
  assert.deepEqual(rest, {
    customer_id: 'acme',
    name: 'Acme treasury',
    scope: 'transfer:read_fiat_account',
  })
  assert.equal((await tokenOf(client_id, client_secret)).status, 200)
})

test('client create and rotate change nothing if nobody can see the secret', async (t) => {
  const { oauth, reader, run, token, tokenOf } = await commandWorld(t)
  const before = (await run('client list --json')).out
  reader.hasLeft = true
  for (const words of [create, `client rotate ${acme.id}`, `client rotate ${acme.id} --now`]) {
    await assert.rejects(run(words), /stdout cannot be written/, words)
  }
  assert.equal((await run('client list --json')).out, before)
  await oauth.refresh()
  assert.equal((await token()).status, 200)
  reader.hasLeft = false
  const { client_secret } = (await run(`client rotate ${acme.id} --now --json`)).json()
  assert.equal((await tokenOf(acme.id, client_secret)).status, 200)
})

test('client create and rotate say whether a shown secret may be in force after a failure', async (t) => {
  const { failing, run } = await commandWorld(t)
  for (const [error, said] of [
    [
      new StoreUnavailable('the outcome is unknown'),
      /unknown; .* may be in force: check `.*client list`/,
    ],
    [
      new NothingChanged('locked'),
      /^locked; a secret that was shown is not in force, so try again$/,
    ],
  ] as const) {
    const fail = () => Promise.reject(error)
    Object.assign(failing, { addClient: fail, rotateSecret: fail })
    for (const words of [create, `client rotate ${acme.id}`]) {
      await assert.rejects(run(words), { name: 'CommandFailed', message: said }, words)
    }
  }
})

test('client create without --scope grants the read scopes only', async (t) => {
  const { run } = await commandWorld(t)
  const names = (await run(create)).json().scope.split(' ')
  assert.equal(names.length, 5)
  assert(names.every((name: string) => name.includes(':read_')))
})

test('client create refuses wrong scopes, keys, names and combinations with a sentence', async (t) => {
  const { folder, run } = await commandWorld(t)
  const privateKey = join(folder, 'private.json')
  const pair = await generateKeyPair('ES256', { extractable: true })
  writeFileSync(privateKey, JSON.stringify(await exportJWK(pair.privateKey)))
  const external = '--issuer https://id.example --external-id ext'
  const cases: readonly [string, number, RegExp][] = [
    [
      '--scope "transfer:write"',
      1,
      /transfer:write: unknown scope\. The scopes are transfer:read_fiat/,
    ],
    [
      '--scope transfer:read_fiat_acount',
      1,
      /unknown scope\. Did you mean transfer:read_fiat_account\?/,
    ],
    ['--scope " "', 1, /at least one scope/],
    [`--jwks ${privateKey}`, 1, /private\.json: Key 1 is private/],
    [`--jwks ${folder}/none.json`, 1, /none\.json cannot be read/],
    ['--issuer https://id.example', 2, /--issuer and --external-id together/],
    [`${external} --jwks x`, 2, /either --jwks or --issuer/],
    [
      '--issuer https://id.example/ --external-id x',
      1,
      /not one of the trustedIssuers.*https:\/\/id\.example/,
    ],
  ]
  for (const [flags, exitCode, pattern] of cases) {
    const outcome = await run(`${create} ${flags}`)
    assert.deepEqual([outcome.exitCode, outcome.out], [exitCode, ''], flags)
    assert.match(outcome.errors, pattern, flags)
  }
  assert.match((await run('client create --name x')).errors, /--customer/)
})

test('client create registers clients with public keys and external clients, without a secret', async (t) => {
  const { folder, run } = await commandWorld(t)
  const file = join(folder, 'keys.json')
  const pair = await generateKeyPair('ES256', { extractable: true })
  writeFileSync(file, JSON.stringify(await exportJWK(pair.publicKey)))
  const withKeys = (await run(`${create} --jwks ${file}`)).json()
  assert.equal('client_secret' in withKeys, false)
  const external = '--issuer https://id.example --external-id ext-1'
  const mapped = (await run(`${create} ${external}`)).json()
  assert.deepEqual([mapped.issuer, mapped.external_id], ['https://id.example', 'ext-1'])
  assert.match((await run(`${create} ${external}`)).errors, /has this issuer and external id/)
  assert.match((await run(`client rotate ${mapped.client_id}`)).errors, /does not use a secret/)
})

test('client list shows when each client was last used, and no secret or hash', async (t) => {
  const { clock, run, tokenOf } = await commandWorld(t)
  const { client_id, client_secret } = (await run(create)).json()
  await tokenOf(client_id, client_secret)
  const list = async () => {
    const { out, json } = await run('client list --json')
    const isMade = (client: { client_id: string }) => client.client_id === client_id
    return { out, listed: json().clients.find(isMade) }
  }
  // The use is stored after the token was answered.
  await until(async () => (await list()).listed.last_used_at !== null)
  const { out, listed } = await list()
  const { secrets, scope, ...rest } = listed
  const at = new Date(Number(clock() / 1000n)).toISOString()
  assert.equal(scope.split(' ').length, 5)
  assert.deepEqual(rest, {
    client_id,
    customer_id: 'acme',
    name: 'Acme treasury',
    method: 'secret',
    created_at: at,
    last_used_at: at,
    disabled_at: null,
  })
  assert.deepEqual(Object.keys(secrets[0]), [
    'secret_id',
    'created_at',
    'expires_at',
    'last_used_at',
  ])
  assert(!out.includes(client_secret) && !out.includes('hmac256'))
  const plain = (await run('client list')).out
  assert.match(plain, new RegExp(`${client_id} {2}live {2}acme {2}2026-.*Acme treasury`))
})

test('client rotate lets the old secret expire after 7 days, or after --days', async (t) => {
  const { clock, oauth, run, tokenOf } = await commandWorld(t)
  const rotated = (await run(`client rotate ${acme.id} --json`)).json()
  assert.equal(rotated.previous_secret_until, '2026-03-08T12:00:00.000Z')
  const day = 86_400
  const statusAfter = async (seconds: number, secret: string) => {
    clock.advance(seconds)
    await oauth.refresh()
    return (await tokenOf(acme.id, secret)).status
  }
  assert.equal(await statusAfter(7 * day - 1, acme.secret), 200)
  assert.equal(await statusAfter(1, acme.secret), 401)
  assert.equal(await statusAfter(0, rotated.client_secret), 200)
  const again = (await run(`client rotate ${acme.id} --days 2 --json`)).json()
  assert.equal(await statusAfter(2 * day, rotated.client_secret), 401)
  assert.equal(await statusAfter(0, again.client_secret), 200)
  const wrong = await run(`client rotate ${acme.id} --days 0`)
  assert.equal(wrong.exitCode, 2)
  assert.match(wrong.errors, /--days must be a whole number from 1 to 90/)
})

test('client create refuses RSA keys under 2,048 bits', async (t) => {
  const { folder, run } = await commandWorld(t)
  const register = async (bits: number) => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: bits })
    const file = join(folder, `rsa-${bits}.json`)
    writeFileSync(file, JSON.stringify(publicKey.export({ format: 'jwk' })))
    return await run(`${create} --jwks ${file}`)
  }
  assert.match((await register(1024)).errors, /has 1024 bits; an RSA key must have 2048 to 4096/)
  assert.equal((await register(2048)).exitCode, 0)
})

test('client rotate keeps the old secret valid; --now revokes it with its tokens', async (t) => {
  const { oauth, run, token, tokenOf } = await commandWorld(t)
  const older = (await token()).body.access_token
  const second = (await run(`client rotate ${acme.id} --json`)).json()
  assert.equal((await tokenOf(acme.id, acme.secret)).status, 200)
  assert.equal((await tokenOf(acme.id, second.client_secret)).status, 200)
  const third = (await run(`client rotate ${acme.id} --now --json`)).json()
  await oauth.refresh()
  assert.equal((await tokenOf(acme.id, second.client_secret)).status, 401)
  const newer = (await tokenOf(acme.id, third.client_secret)).body.access_token
  assertRefused(await oauth.checkToken(older))
  assertAccepted(await oauth.checkToken(newer))
})

test('client disable refuses the client and its tokens, and is idempotent', async (t) => {
  const { oauth, run, token } = await commandWorld(t)
  const { access_token } = (await token()).body
  const first = (await run(`client disable ${acme.id} --json`)).json()
  assert.match(first.disabled_at, /^2026-03-01T12:00:00/)
  assert.deepEqual((await run(`client disable ${acme.id} --json`)).json(), first)
  await oauth.refresh()
  assertRefused(await oauth.checkToken(access_token))
  assert.equal((await token()).status, 401)
  assert.match((await run(`client rotate ${acme.id}`)).errors, /is disabled/)
  const unknown = await run('client disable client_nobody')
  assert.deepEqual([unknown.exitCode, unknown.out], [1, ''])
  assert.match(unknown.errors, /There is no client client_nobody/)
})

test('keys rotate creates the next key, and keys list shows the state of each', async (t) => {
  const { clock, oauth, run, token } = await commandWorld(t)
  const states = async () =>
    (await run('keys list --json'))
      .json()
      .keys.filter(({ purpose }: { purpose: string }) => purpose === 'token-signing')
      .map(({ state }: { state: string }) => state)
  assert.deepEqual(await states(), ['signing'])
  const { key_id } = (await run('keys rotate --json')).json()
  assert.deepEqual(await states(), ['signing', 'next'])
  clock.advance(5)
  await oauth.refresh()
  assert.deepEqual(await states(), ['retiring', 'signing'])
  assert.equal(decodeProtectedHeader((await token()).body.access_token).kid, key_id)
  clock.advance(3605)
  assert.deepEqual(await states(), ['retired', 'signing'])
})

test('keys rotate --revoke refuses every older token', async (t) => {
  const { oauth, run, token } = await commandWorld(t)
  const { access_token } = (await token()).body
  await run('keys rotate --revoke')
  await oauth.refresh()
  assertRefused(await oauth.checkToken(access_token))
  assertAccepted(await oauth.checkToken((await token()).body.access_token))
  assert.match((await run('keys list')).out, /revoked.*\n.*signing/)
})

test('keys rotate --purpose cursor keeps tokens valid, and refuses other purposes', async (t) => {
  const { clock, oauth, run, token } = await commandWorld(t)
  const { access_token } = (await token()).body
  const { revoked } = (await run('keys rotate --purpose cursor --revoke --json')).json()
  assert.equal(revoked, true)
  clock.advance(5)
  await oauth.refresh()
  assertAccepted(await oauth.checkToken(access_token))
  const refused = await run('keys rotate --purpose secrets')
  assert.notEqual(refused.exitCode, 0)
  assert.match(refused.errors, /Allowed choices are cursor, client-secret/)
})

test('keys rotate --purpose client-secret hashes a secret again when its client gets a token', async (t) => {
  const { clock, oauth, run, token, tokenOf } = await commandWorld(t)
  const { client_id, client_secret } = (await run(create)).json()
  await assert.rejects(run('keys rotate --purpose client-secret --revoke'), /void every secret/)
  await run('keys rotate --purpose client-secret')
  clock.advance(6)
  await oauth.refresh()
  const stored = async () =>
    (await run('keys list --json'))
      .json()
      .keys.filter(({ purpose }: { purpose: string }) => purpose === 'client-secret')
      .map((key: { stored: number }) => key.stored)
  const [before] = await stored()
  assert.deepEqual(await stored(), [before, 0])
  for (const _ of ['hashed again', 'as it is']) {
    assert.equal((await tokenOf(client_id, client_secret)).status, 200)
    assert.deepEqual(await stored(), [before - 1, 1])
  }
  assert.equal((await tokenOf(client_id, `${client_secret}x`)).status, 401)
  assert.equal((await token()).status, 200)
  assert.deepEqual(await stored(), [before - 2, 2])
})

test('keys reseal marks clients with the new key that this program has stored, and no others', async (t) => {
  const { command, clock, oauth, place, run, token, tokenOf } = await commandWorld(t)
  const [named, hashed] = [(await run(create)).json(), (await run(create)).json()]
  await runPast(
    place,
    `update ${nameOf('client')} set name = 'x' where id = '${named.client_id}'`,
    `update ${nameOf('client_secret')} set hash = hash || '0'
      where client_id = '${hashed.client_id}'`,
  )
  const { id: old } = command.keyring.current('client-row')
  await command.keyring.rotate('client-row', { revokeOthers: false })
  clock.advance(6)
  const { errors, json } = await run('keys reseal --json')
  const { clients, unopened, retired } = json()
  assert.deepEqual([unopened, retired], [2, [old]])
  assert.ok(clients > 0)
  for (const { client_id } of [named, hashed]) {
    assert.match(errors, new RegExp(`client ${client_id} is not as it was stored`))
  }
  const { keys } = (await run('keys list --json')).json()
  const marked = keys.filter(({ purpose }: { purpose: string }) => purpose === 'client-row')
  assert.deepEqual(
    marked.map(({ state, stored }: { state: string; stored: number }) => [state, stored]),
    [
      ['revoked', 2],
      ['current', clients],
    ],
  )
  await oauth.refresh()
  assert.equal((await token()).status, 200)
  for (const { client_id, client_secret } of [named, hashed]) {
    assert.equal((await tokenOf(client_id, client_secret)).status, 401)
  }
  // Nothing is left to do.
  assert.deepEqual((await run('keys reseal --json')).json().retired, [])
})

test('keys rotate-master wraps every key with a new master key, and client secrets stay valid', async (t) => {
  const { keyFile, run, oauth } = await commandWorld(t)
  const previousMasterKey = new Secret(readFileSync(keyFile, 'utf8').trim())
  const masterKey = new Secret(systemRandom(32).toString('base64'))
  const { client_id } = (await run(create)).json()
  const moved = (await run('keys rotate-master --json', { masterKey, previousMasterKey })).json()
  assert.equal(moved.rewrapped, purposes.length)
  const only = await run(`client rotate ${client_id} --json`, { masterKey })
  assert.equal(only.json().client_id, client_id)
  await assert.rejects(run('client list'), { name: 'ConfigError', message: /is configured\. Set/ })
  await assert.rejects(oauth.refresh(), { name: 'ConfigError' })
})

test('the secrets of a sandbox are public until they are replaced or their clients disabled', async (t) => {
  const { command, clock, run } = await commandWorld(t)
  const config = { databaseUrl: 'postgres://bursar:canary@db/bursar' }
  const refusal = () =>
    requireNoPublishedSecret(command.store, config, clock).then(
      () => undefined,
      (error: Error) => error.message,
    )
  assert.equal(await refusal(), undefined)
  for (const id of ['ann', 'ben', 'cleo']) {
    const client = { id, secret: `${id}_secret`, customerId: 'acme', name: id, scopes: acmeScopes }
    await createSampleClient(command, { ...client, isPublished: true })
  }
  assert.equal(
    await refusal(),
    'The store has 3 clients of a sandbox, whose secrets are public: ann, ben, cleo. Disable them with `npm run -s bursar -- client disable --sandbox`, with OPERATOR_DATABASE_URL set, or serve another store.',
  )
  await run('client rotate ann --now')
  await run('client rotate ben --days 1')
  assert.match(String(await refusal()), /2 clients .* public: ben, cleo\./)
  clock.advance(86_400)
  assert.match(String(await refusal()), /1 client .* public: cleo\./)
  const disabled = await run('client disable --sandbox --json')
  assert.deepEqual(
    disabled.json().clients.map((client: { client_id: string }) => client.client_id),
    ['cleo'],
  )
  assert.equal(await refusal(), undefined)
  const { out } = await run('client disable --sandbox')
  assert.equal(out, 'No client has a public secret of a sandbox.')
  for (const words of ['client disable', 'client disable ann --sandbox']) {
    const { exitCode, errors } = await run(words)
    assert.deepEqual([exitCode, errors.includes('either the id of a client')], [2, true], words)
  }
})

test('client update changes scopes and name, and refuses what cannot be', async (t) => {
  const { run, tokenOf } = await commandWorld(t)
  const { client_id, client_secret } = (await run(create)).json()
  const scope = 'transfer:read_fiat_account'
  const updated = await run(`client update ${client_id} --scope ${scope} --name "Zurich" --json`)
  assert.deepEqual(updated.json(), { client_id, customer_id: 'acme', name: 'Zurich', scope })
  const token = await tokenOf(client_id, client_secret)
  assert.deepEqual([token.status, token.body.scope], [200, scope])
  const listed = await run('client list --customer acme')
  assert.match(listed.out, new RegExp(`^${client_id} .* Zurich {2}${scope}$`, 'm'))
  for (const [words, said] of [
    [`client update ${client_id}`, /^Give --name or --scope\./],
    [
      `client update ${client_id} --scope everything`,
      /^everything: unknown scope\. The scopes are /,
    ],
    [`client update ${client_id} --scope " "`, /^A client needs at least one scope\./],
    ['client update client_nobody --name Nobody', /^There is no client client_nobody\./],
  ] as const) {
    const refused = await run(words)
    assert.notEqual(refused.exitCode, 0, words)
    assert.match(refused.errors, said, words)
  }
  await run(`client disable ${client_id}`)
  assert.match((await run(`client update ${client_id} --name A`)).errors, /is disabled/)
})
