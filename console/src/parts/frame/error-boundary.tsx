import { Component, type ReactNode } from 'react'
import { BareScreen } from '../states.tsx'

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
        <div role="alert" className="state fault">
          <p>This screen cannot be shown. The server may have a newer console.</p>
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      </BareScreen>
    )
  }

  private readonly reset = () => this.setState({ hasFailed: false })
}
