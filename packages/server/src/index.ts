export type { ConsoleClient } from './documents/console/console-page.ts'
export { sandboxApi } from './documents/openapi.ts'
export { openApiRoute } from './documents/openapi-routes.ts'
export { expiredToken, requireScope } from './pipeline/authenticate.ts'
export { cursorKeysOf } from './pipeline/cursor.ts'
export { openRateLimit } from './pipeline/rate-limit.ts'
export { routesOf } from './pipeline/routes-of.ts'
export type { Served } from './server/request-log.ts'
export {
  type ServiceDeps,
  type ServiceExtension,
  type ServiceParts,
  startService,
} from './service.ts'
