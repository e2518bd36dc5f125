import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { chromium, type Page } from 'playwright-core'
import { type Cleanups, startProcess } from '../../packages/oauth/test/support/process.ts'
import { displayNames } from '../../packages/sandbox/src/sample-records.ts'
import { fixtureIds } from '../../packages/sandbox/src/story.ts'
import { chromiumFlags, chromiumPath, isChromiumMissing } from '../support/chromium.ts'
import { temporaryFolder } from '../support/harness.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'
import { axeFaults, browserTest, consolePage } from './support/browse.ts'

/** Persons sign in at a real OpenID provider, in a separate process, with a real browser. */

const account = `#/record/fiat-accounts/${fixtureIds['fiat-accounts']}?customer=acme`

async function providerWorld(context: Cleanups, tokenLife = '300') {
  const issuer = await startProcess(context, '../../../../test/browser/support/oidc-process.ts', [
    tokenLife,
  ])
  const all = ['look_up', 'see_full', 'export']
  const people = {
    clientId: 'console',
    parameters: { resource: 'urn:bursar' },
    claim: 'groups',
    grants: [
      { value: 'support', customer: '*', rights: ['look_up'] },
      { value: 'lead', customer: '*', rights: all },
      { value: 'finance/{customer}', customer: '{customer}', rights: all },
    ],
  }
  const trusted = { issuer: issuer.url, audience: 'bursar', algorithms: ['RS256'], people }
  const data = temporaryFolder()
  const program = startProgram(['sandbox', '--port', '0', '--data', data, '--json'], {
    env: { BURSAR_TRUSTED_ISSUERS: JSON.stringify([trusted]), LOG_LEVEL: 'info' },
  })
  context.after(() => program.kill('SIGKILL'))
  const { url } = JSON.parse(await program.firstLine)
  const browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumFlags })
  context.after(() => browser.close())
  const accesses = async () => {
    const { output } = await runProgram(['audit', '--json'], {
      env: { DATABASE_URL: `sqlite:${join(data, 'sandbox.db')}` },
    })
    const events = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    return events.filter(({ action }) => ['view_in_full', 'export'].includes(action))
  }
  const signIn = async (name: string, fragment = '') => {
    const { page } = await consolePage(browser, url)
    await page.goto(`${url}/console/${fragment}`)
    await page.getByRole('button', { name: `Sign in with ${new URL(issuer.url).host}` }).click()
    await passProvider(page, name)
    return page
  }
  const newPage = () => consolePage(browser, url)
  return { accesses, issuer, newPage, signIn, url }
}

let world: Awaited<ReturnType<typeof providerWorld>>
const cleanups: (() => unknown)[] = []
before(async () => {
  if (isChromiumMissing) return
  world = await providerWorld({ after: (clean) => void cleanups.unshift(clean) })
})
after(async () => {
  for (const clean of cleanups) await clean()
})

/** Fills in the pages of the provider: a name, any password, and the consent. */
async function passProvider(page: Page, name: string): Promise<void> {
  await page.locator('input[name=login]').fill(name)
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.locator('.who').waitFor()
}

browserTest('a lead signs in with PKCE, gives a reason, and the audit log has both', async () => {
  const { accesses, issuer, signIn, url } = world
  const page = await signIn('lead-ada', account)
  assert.equal(await page.locator('.who').textContent(), 'lead-ada')
  // The screen that was open is open again, and the code has left the address bar.
  assert.equal(page.url(), `${url}/console/${account}`)
  await page.getByRole('heading', { name: /···8846$/ }).waitFor()
  await page.getByRole('button', { name: 'Show number' }).first().click()
  assert.deepEqual(await axeFaults(page), [])
  await page.getByLabel('Why do you need it in full?').fill('Wire of Monday')
  await page.getByRole('button', { name: 'Show for 60 seconds' }).click()
  await page.getByText('5730008846').first().waitFor()
  await page.locator('.record-head .meta a').click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    (async () => {
      await page.evaluate('delete window.showSaveFilePicker')
      await page.getByRole('button', { name: 'Export CSV' }).click()
    })(),
  ])
  assert.equal(download.suggestedFilename(), 'fiat-accounts-acme.csv')
  await until(async () => (await accesses()).length >= 3)
  const [view, ...exports] = await accesses()
  assert.deepEqual(
    [view.actor, view.action, view.ids[0], view.reason],
    [
      { type: 'person', issuer: issuer.url, subject: 'lead-ada' },
      'view_in_full',
      fixtureIds['fiat-accounts'],
      'Wire of Monday',
    ],
  )
  const shown = exports.map(({ action, customer, rows }) => [action, customer, rows])
  assert.deepEqual(shown, [
    ['export', 'acme', 1000],
    ['export', 'acme', 1],
  ])
})

browserTest('support looks up, and is offered neither full views nor exports', async () => {
  const { signIn } = world
  const page = await signIn('support-sam', account)
  await page.getByRole('heading', { name: /···8846$/ }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Show number' }).count(), 0)
  await page.locator('.record-head .meta a').click()
  await page.getByRole('button', { name: 'Columns' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Export CSV' }).count(), 0)
})

browserTest('a person without a grant is told so', async () => {
  const { issuer, newPage, url } = world
  const { page } = await newPage()
  await page.goto(`${url}/console/`)
  await page.getByRole('button', { name: new URL(issuer.url).host }).click()
  await page.locator('input[name=login]').fill('stranger-zoe')
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText(/access token is invalid/i).waitFor()
})

browserTest('two people of two customers in two tabs never see each other’s data', async () => {
  const { signIn } = world
  const acme = await signIn('finance-acme-al')
  const borealis = await signIn('finance-borealis-bo')
  for (const [page, own, other] of [
    [acme, 'acme', 'borealis'],
    [borealis, 'borealis', 'acme'],
  ] as const) {
    assert.equal(await page.locator('.bar .customer').textContent(), displayNames[own])
    for (const kind of Object.keys(fixtureIds)) {
      // Naming the other customer in the URL changes nothing.
      await page.evaluate((hash) => {
        location.hash = hash
      }, `#/list/${kind}?customer=${other}`)
      await page.locator('.records tbody tr[data-id]').first().waitFor()
      const shown = String(await page.locator('main').textContent())
      for (const name of [other, String(displayNames[other])]) {
        assert.ok(!shown.includes(name), `${own} ${kind} ${name}`)
      }
    }
  }
  await borealis.evaluate((hash) => {
    location.hash = hash
  }, account)
  await borealis.getByText(`${displayNames.borealis} has no such record`).waitFor()
})

browserTest('an access token that ends is renewed', async (t) => {
  // The console renews it 30 seconds before its end.
  const { signIn } = await providerWorld(t, '31')
  const page = await signIn('lead-ada')
  const renewed = page.waitForRequest((request) => /refresh_token/.test(request.postData() ?? ''))
  await page.waitForTimeout(1100)
  await page.evaluate((hash) => {
    location.hash = hash
  }, account)
  await renewed
  await page.getByRole('heading', { name: /···8846$/ }).waitFor()
  // Requests at the same time share one renewal, since a refresh token may be used once.
  await page.waitForTimeout(1100)
  await page.getByRole('button', { name: 'Show number' }).first().click()
  await page.getByLabel('Why do you need it in full?').fill('audit')
  await page.getByRole('button', { name: 'Show for 60 seconds' }).click()
  await page.getByText('5730008846').first().waitFor()
})

browserTest('after a sign-out the provider asks who it is', async () => {
  const { issuer, signIn } = world
  const page = await signIn('lead-eve')
  const revoked = page.waitForRequest((request) => request.url().endsWith('/token/revocation'))
  await page.getByRole('button', { name: 'Sign out' }).click()
  await revoked
  await page.getByRole('button', { name: new URL(issuer.url).host }).click()
  await page.locator('input[name=login]').waitFor()
})
