import { type Config, isWildcard } from '@bursar/base'
import { resources } from '@bursar/contract'
import type { ServiceExtension } from '@bursar/server'
import { acme } from './sample-records.ts'
import { fixtureIds } from './story.ts'

/** What `npm start` prints: URLs, credentials, and commands to paste. */
export function bannerOf(
  url: string,
  records: ServiceExtension['records'],
  keptIn: string | undefined,
  config: Pick<Config, 'host' | 'publicUrl'>,
): string {
  const { clientId, clientSecret } = acme
  const counts = Object.entries(records).map(([kind, count]) => `${count} ${kind}`)
  const fixtures = resources.map(({ kind, noun }) => `  ${fixtureIds[kind]}  ${noun}`)
  return `
Bursar sandbox, ready. Sample data, ${keptIn === undefined ? 'thrown away at the end' : `kept in ${keptIn}`}.

  API            ${url}/v2
  token          ${url}/oauth2/token
  API page       ${url}/docs
  console        ${url}/console/
  for tests      ${url}/sandbox/openapi.json
  client_id      ${clientId}
  client_secret  ${clientSecret}
  records        ${counts.join(', ')}
  fees           by the sample schedule, whose prices are placeholders${reachOf(config)}

Records of Acme to look up:

${fixtures.join('\n')}

Try it:

  TOKEN=$(curl -s -u ${clientId}:${clientSecret} -d grant_type=client_credentials ${url}/oauth2/token | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s -H "Authorization: Bearer $TOKEN" '${url}/v2/transfer/fiat-accounts?limit=2'
  curl -s -H "Authorization: Bearer $TOKEN" '${url}/v2/transfer/fiat-accounts?limit=1001'
  curl -s -H "Authorization: Bearer $TOKEN" -d '{"asset":"USDC","crypto_network":"ETHEREUM","destination_address":"0xF0Aa84466e353E5390be37FE2934301c07c19a55","amount":"100"}' ${url}/v2/transfer/fees/crypto-withdrawal
`
}

/** A wildcard address is no URL, so the banner has this machine's and says who can connect. */
const reachOf = ({ host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>): string =>
  isWildcard(host) && publicUrl === undefined
    ? `
  listens on     ${host}, so every machine of the network can use this sandbox;
                 set BURSAR_PUBLIC_URL if callers use another URL than this banner`
    : ''
