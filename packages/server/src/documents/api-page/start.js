import { keepAccessible } from './accessibility.js'

/**
 * Starts the API page in the browser. The page may be reached under another name than the public
 * URL: localhost, a mapped port, a proxy. So requests go to where the page itself came from.
 */
const base = new URL('..', location.href).href.replace(/\/$/, '')
const settings = JSON.parse(document.getElementById('settings').textContent)

keepAccessible()
window.Scalar.createApiReference('#api', {
  url: `${base}/openapi.json`,
  servers: [{ url: base }],
  withDefaultFonts: false,
  telemetry: false,
  // These features need hosts that the content security policy refuses.
  hideClientButton: true,
  showDeveloperTools: 'never',
  mcp: { disabled: true },
  agent: { disabled: true },
  authentication: {
    preferredSecurityScheme: 'oauth2',
    securitySchemes: {
      oauth2: {
        flows: { clientCredentials: { tokenUrl: `${base}/oauth2/token`, ...settings.client } },
      },
    },
  },
})
