import type { Route } from '@bursar/contract'
import { doing, type StoreWatch } from '@bursar/records'

/**
 * Refuses requests once the store's files are lost or damaged. What a request has changed is
 * acknowledged only if the changed file is still the one at its path.
 */
export const whileIntact =
  (watch: StoreWatch | undefined) =>
  (route: Route): Route =>
    watch === undefined ? route : guardedBy(watch, route)

const guardedBy = (watch: StoreWatch, route: Route): Route => ({
  ...route,
  answer: async (request) => {
    watch.requireIntact()
    try {
      const answer = await route.answer(request)
      const { deed } = answer
      if (route.method === 'GET') return answer
      if (deed === undefined) watch.confirmIntact()
      else await doing(deed, async () => watch.confirmIntact())
      return answer
    } catch (error) {
      watch.noteFailure(error)
      throw error
    }
  },
})
