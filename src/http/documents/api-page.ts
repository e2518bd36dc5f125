import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import type { Route } from '../../contract/request.ts'

/** Sends a browser that opens the bare address to the API page. */
export const homePage: Route = {
  method: 'GET',
  path: '/',
  operation: 'home',
  answer: () => ({ status: 302, headers: { location: '/docs/' }, body: '' }),
}

/** The client of the page, so that "Send" works at once. Only the sandbox shows one. */
export type PageClient = { readonly clientId: string; readonly clientSecret: string }

/**
 * The interactive page at `/docs`: Scalar, served from its package. The content security policy
 * lets it reach this service only, so it loads nothing from other hosts and sends no token to them.
 */
export function apiPage(
  client: PageClient | undefined,
): (server: FastifyInstance) => Promise<void> {
  return async (server) => {
    const { default: scalar } = await import('@scalar/fastify-api-reference')
    await server.register(helmet, {
      contentSecurityPolicy: {
        directives: {
          defaultSrc: ["'self'"],
          scriptSrc: ["'self'", "'unsafe-inline'"],
          styleSrc: ["'self'", "'unsafe-inline'"],
          imgSrc: ["'self'", 'data:'],
          fontSrc: ["'self'", 'data:'],
          connectSrc: ["'self'"],
          upgradeInsecureRequests: null,
        },
      },
      strictTransportSecurity: false,
    })
    await server.register(scalar, {
      routePrefix: '/docs',
      configuration: {
        url: '/openapi.json',
        pageTitle: 'Bursar API',
        withDefaultFonts: false,
        telemetry: false,
        favicon: 'data:,',
        // These features need hosts that the content security policy refuses.
        hideClientButton: true,
        showDeveloperTools: 'never',
        mcp: { disabled: true },
        agent: { disabled: true },
        authentication: {
          preferredSecurityScheme: 'oauth2',
          securitySchemes: {
            oauth2: {
              flows: {
                clientCredentials: {
                  ...(client !== undefined && {
                    'x-scalar-client-id': client.clientId,
                    clientSecret: client.clientSecret,
                  }),
                },
              },
            },
          },
        },
      },
    })
  }
}
