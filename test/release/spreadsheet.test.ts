import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fixtureIds } from '../../packages/sandbox/src/story.ts'
import { browserTest, openBrowsing } from '../browser/support/browse.ts'
import { temporaryFolder } from '../support/harness.ts'
import { operatorToken } from '../support/operator-token.ts'

/** The workbook of a list, opened by a spreadsheet that people have. */

const browsing = openBrowsing()
const office = '/usr/bin/soffice'

/** The cells of the sheet as LibreOffice shows them; of a formula, its result. */
async function openInOffice(file: string): Promise<string[][]> {
  const folder = temporaryFolder()
  const book = join(folder, 'list.xlsx')
  copyFileSync(file, book)
  // Tabs between cells, UTF-8, and figures as they are shown.
  const format = 'csv:Text - txt - csv (StarCalc):9,34,76,1,,0,false,true,false'
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`
  const words = [profile, '--headless', '--convert-to', format, '--outdir', folder, book]
  await promisify(execFile)(office, words, { timeout: 120_000 })
  const text = readFileSync(join(folder, 'list.csv'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t').map((cell) => cell.replace(/^"(.*)"$/, '$1')))
}

/** Gives the fixture a routing number that begins with zero, and a reference like a formula. */
async function storeCodes(): Promise<void> {
  const token = await operatorToken(browsing.service, 'spreadsheet_writer', [
    'ingest:read_record',
    'ingest:write_fiat_deposit_instructions',
  ])
  const path = `/ingest/v1/fiat-deposit-instructions/${instructions}`
  const { body } = await browsing.service.call(path, { token })
  const { wire } = body.fiat_network_instructions
  wire.routing_details.routing_number_type = 'ABA'
  wire.routing_details.routing_number = '021000021'
  body.ref_id = '=1+1'
  const call = { token, method: 'PUT', body: JSON.stringify(body) }
  const { status, text } = await browsing.service.call(`${path}?allow_older=true`, call)
  assert.equal(status, 200, text)
}

const instructions = fixtureIds['fiat-deposit-instructions']

browserTest('a workbook keeps the zeros of codes and has no formula', async (t) => {
  if (!existsSync(office)) {
    assert.ok(process.env.CI === undefined, `${office} is missing`)
    t.skip(`${office} is missing`)
    return
  }
  const { page, open, signIn, faults } = await browsing.newPage()
  await signIn()
  await storeCodes()
  const take = async (list: string) => {
    await open(list)
    await page.locator('.records tbody tr[data-id]').first().waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Spreadsheet' }).click(),
    ])
    return await openInOffice(String(await download.path()))
  }
  const rows = await take(`#/list/fiat-deposit-instructions?customer=acme&ids=${instructions}`)
  const [head = [], line = []] = rows
  const cell = (title: string) => line[head.indexOf(title)]
  assert.deepEqual(
    [cell('Id'), cell('Routing number'), cell('Reference')],
    [instructions, '021000021', '=1+1'],
  )

  // A statement has a row for each asset, and the exact figure of each.
  const statements = await take('#/list/statements?customer=acme&statuses=STATEMENT_STATUS_PAID')
  const [titles = []] = statements
  const query = `customer_id=acme&statement_ids=${fixtureIds.statements}`
  const { body } = await browsing.service.call(`/v2/statements?${query}`)
  const [{ total_amount_owed: owed, asset }] = body.statements[0].statement_balances
  const fixture = statements.find((line) => line[titles.indexOf('Id')] === fixtureIds.statements)
  assert.deepEqual(
    [fixture?.[titles.indexOf('Owed')], fixture?.[titles.indexOf('Asset')]],
    [owed, asset],
  )
  assert.deepEqual(faults, [])
})
