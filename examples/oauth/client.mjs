// Reads a page of accounts. The token is kept until a minute before it expires.
const { BURSAR_URL, CLIENT_ID, CLIENT_SECRET } = process.env

let held = { token: '', until: 0 }

async function token() {
  if (Date.now() < held.until) return held.token
  const answer = await fetch(`${BURSAR_URL}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  if (!answer.ok) throw new Error(`no token: ${answer.status} ${await answer.text()}`)
  const { access_token, expires_in } = await answer.json()
  held = { token: access_token, until: Date.now() + (expires_in - 60) * 1000 }
  return access_token
}

const page = await fetch(`${BURSAR_URL}/v2/transfer/fiat-accounts?limit=2`, {
  headers: { authorization: `Bearer ${await token()}` },
})
if (!page.ok) throw new Error(`${page.status} ${await page.text()}`)
const { items } = await page.json()
console.log(`${items.length} accounts`)
