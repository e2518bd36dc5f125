import assert from 'node:assert/strict'
import { fixtureIds } from '../../packages/sandbox/src/story.ts'
import { axeFaults, browserTest, openBrowsing } from './support/browse.ts'

/** The one test with a browser in `npm test`; `npm run test:browser` runs the others. */

const browsing = openBrowsing()

browserTest(
  'a person signs in, finds a record, opens its list, and the API page loads',
  async () => {
    const { page, faults, open, signIn } = await browsing.newPage()
    await signIn()
    await page.keyboard.type(fixtureIds['fiat-accounts'])
    await page.keyboard.press('Enter')
    await page.locator(`article[data-id="${fixtureIds['fiat-accounts']}"]`).waitFor()
    await open('#/list/statements?customer=acme&limit=20')
    await page.locator('.records tbody tr[data-id]').first().waitFor()
    assert.equal(await page.locator('.records tbody tr[data-id]').count(), 20)
    assert.deepEqual(await axeFaults(page), [])
    await page.goto(`${browsing.service.url}/docs/`)
    await page.getByText('Statements', { exact: true }).first().waitFor({ state: 'attached' })
    assert.deepEqual(faults, [])
  },
)
