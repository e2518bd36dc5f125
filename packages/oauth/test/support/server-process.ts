/** An authorization server in its own process, on the store that its arguments name. */

import { openBackground, openVault, systemRandom, systemTime } from '@bursar/base'
import type { Route } from '@bursar/contract'
import { pino } from 'pino'
import { openCredentialsAt } from '../../../../test/support/store-place.ts'
import { staticDocument } from '../../../server/src/documents/static-document.ts'
import { openOAuth } from '../../src/open-oauth.ts'
import { listen } from './server.ts'

const [where = '', keyFile = ''] = process.argv.slice(2)
const store = await openCredentialsAt(where, 'server')
const masters = { masterKey: undefined, previousMasterKey: undefined, keyFile }
const clock = systemTime.now
const keyring = await openVault({ store, ...masters, clock, random: systemRandom })

let routes: readonly Route[] = []
const { url } = await listen(() => routes)
const oauth = await openOAuth({
  store,
  keyring,
  clock,
  background: openBackground(),
  issuer: () => url,
  log: pino({ level: 'silent' }),
  rateLimit: async () => {},
  config: { tokenLifeSeconds: 900, credentialsAgeSecondsMax: 60, trustedIssuers: [] },
})
const whoAmI: Route = {
  method: 'GET',
  path: '/who-am-i',
  operation: 'who-am-i',
  answer: async ({ headers }) => {
    const principal = await oauth.checkToken(headers.authorization?.slice('Bearer '.length) ?? '')
    if (typeof principal === 'string') return { status: 401, headers: {}, body: '' }
    return { status: 200, headers: {}, body: principal.clientId }
  },
}
routes = [...oauth.routes(), ...oauth.documents.map(staticDocument), whoAmI]
console.log(url)
