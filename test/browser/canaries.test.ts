import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { recordKinds } from '@bursar/contract'
import { writeScope } from '../../packages/contract/src/operations/ingest/stored-records.ts'
import { fixtureIds } from '../../packages/sandbox/src/story.ts'
import { operatorToken } from '../support/operator-token.ts'
import { browserTest, openBrowsing } from './support/browse.ts'

/** A text in a record stays text, whatever is in it: on the screens, in the log and in a file. */

const browsing = openBrowsing()

const canary = `=cmd|=2|'<img src=x onerror="window.canary=1">"';=1+1\t@x`
/** No identifier may have a tab. */
const canaryOfIdentifier = canary.replace('\t', ' ')
type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** How often each path was refused. */
type Refused = ReadonlyMap<string, number>

/** The record with a canary in every text, unless its path was refused twice. */
const withCanaries = (value: Json, refused: Refused, path = ''): Json => {
  if (typeof value === 'string') {
    return [canary, canaryOfIdentifier][refused.get(path) ?? 0] ?? value
  }
  if (Array.isArray(value)) return value.map((entry) => withCanaries(entry, refused, path))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      withCanaries(member, refused, path === '' ? name : `${path}.${name}`),
    ]),
  )
}

/** Stores the fixture of a kind with canaries wherever the API takes a free text. */
async function storeCanaries(kind: (typeof recordKinds)[number], token: string): Promise<number> {
  const path = `/ingest/v1/${kind}/${fixtureIds[kind]}`
  const { body } = await browsing.service.call(path, { token })
  const kept = ['id', 'customer_id', 'created_at', 'updated_at', 'identity_id', 'account_id']
  const refused = new Map(kept.map((path) => [path, 2]))
  for (;;) {
    const record = withCanaries(body, refused)
    const call = { token, method: 'PUT', body: JSON.stringify(record) }
    const stored = await browsing.service.call(`${path}?allow_older=true`, call)
    if (stored.status === 200) return JSON.stringify(record).split('onerror').length - 1
    const faults: { member: string }[] = stored.body.meta?.errors ?? []
    const paths = faults.map(({ member }) => member.replace(/\[\d+\]|\.\d+(?=\.|$)/g, ''))
    assert.ok(
      paths.some((path) => (refused.get(path) ?? 0) < 2),
      `${kind}: ${stored.text}`,
    )
    for (const path of new Set(paths)) refused.set(path, (refused.get(path) ?? 0) + 1)
  }
}

browserTest('no text of a record runs in the console or in a spreadsheet', async () => {
  const writes = recordKinds.map(writeScope)
  const scopes = ['ingest:read_record', ...writes]
  const token = await operatorToken(browsing.service, 'canary_writer', scopes)
  const { page, open, signIn, faults } = await browsing.newPage()
  await signIn()
  for (const kind of recordKinds) {
    const places = await storeCanaries(kind, token)
    assert.ok(places >= 2, `${kind} has ${places} canaries`)
    await open(`#/list/${kind}?customer=acme&limit=20`)
    await page.locator(`.records tbody tr[data-id="${fixtureIds[kind]}"]`).waitFor()
    await open(`#/record/${kind}/${fixtureIds[kind]}?customer=acme`)
    await page.locator('.record .stack').getByText(canary).first().waitFor()
    await page.locator('.changes ins').getByText(canary).first().waitFor()
    await open(`#/list/${kind}?customer=acme`)
    await page.locator('.records tbody tr[data-id]').first().waitFor()
    await page.evaluate('delete window.showSaveFilePicker')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    const file = readFileSync(String(await download.path()), 'utf8')
    assert.ok(file.includes(`"'=cmd|`), kind)
    // Whatever a spreadsheet takes for a separator, no cell of the file starts a formula.
    assert.ok(!/(^|[,;|\t])[\s"]*[=+@]/m.test(file), kind)
  }
  // A search for the canary, and a link that holds it.
  await open(`#/find?q=${encodeURIComponent(canary)}`)
  await page.locator('.hit').first().waitFor()
  await open(`#/list/statements?customer=${encodeURIComponent(canary)}`)
  await page.getByText(canary).first().waitFor()
  assert.equal(await page.evaluate('window.canary'), undefined)
  assert.deepEqual(faults, [])
})
