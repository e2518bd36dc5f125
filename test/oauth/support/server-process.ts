/** A Bursar authorization server as a process of its own, on the store that its arguments name. */
import { pino } from 'pino'
import { openOAuth } from '../../../src/oauth/open.ts'
import type { OAuthRoute } from '../../../src/oauth/route.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { openVault } from '../../../src/vault/open.ts'
import { systemRandom } from '../../../src/vault/random.ts'
import { openCredentialsAt } from '../../support/store-place.ts'
import { listen } from './server.ts'

const [where = '', keyFile = ''] = process.argv.slice(2)
const store = await openCredentialsAt(where, 'server')
const masters = { masterKey: undefined, previousMasterKey: undefined, keyFile }
const clock = systemClock
const keyring = await openVault({ store, ...masters, clock, random: systemRandom })

let routes: readonly OAuthRoute[] = []
const { url } = await listen(() => routes)
const oauth = await openOAuth({
  ...{ store, keyring, clock, issuer: () => url, log: pino({ level: 'silent' }) },
  config: { tokenLifeSeconds: 900, credentialsAgeSecondsMax: 60, trustedIssuers: [] },
})
const whoAmI: OAuthRoute = {
  method: 'GET',
  path: '/who-am-i',
  handle: async ({ headers }) => {
    const principal = await oauth.verify(headers.authorization?.slice('Bearer '.length) ?? '')
    if (principal === 'invalid') return { status: 401, headers: {}, body: null }
    return { status: 200, headers: {}, body: principal.clientId }
  },
}
routes = [...oauth.routes, whoAmI]
console.log(url)
