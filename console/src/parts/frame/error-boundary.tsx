import { Component, type ReactNode } from 'react'
import { BareScreen, State } from '../states.tsx'

type Props = { readonly children: ReactNode }

/** A screen that cannot be shown leaves the others usable. After an upgrade, a reload mends it. */
export class ErrorBoundary extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override componentDidMount() {
    addEventListener('hashchange', this.reset)
  }

  override componentWillUnmount() {
    removeEventListener('hashchange', this.reset)
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <BareScreen title="Error">
        <State
          icon="bad"
          tone="bad"
          title="This screen cannot be shown"
          isAlert
          acts={
            <button type="button" className="button primary" onClick={() => location.reload()}>
              Reload
            </button>
          }
        >
          The server may have a newer console.
        </State>
      </BareScreen>
    )
  }

  private readonly reset = () => this.setState({ hasFailed: false })
}
