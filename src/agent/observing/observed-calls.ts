/**
 * Calls that this side makes, watched like those that it answers.
 *
 * @module
 */
import { type Session } from '../../channel/index.ts'
import { type ErrorCode, toCtError } from '../../core/errors.ts'
import { type CallObserver } from '../../mcp/index.ts'
import { type Caller } from '../calling/caller.ts'
import { type LinkSource } from '../calling/link-source.ts'
import { type Observing } from './observing.ts'

export class ObservedCalls {
  readonly #observing: Observing
  #observer: CallObserver | undefined

  constructor(observing: Observing) {
    this.#observing = observing
  }

  /** The same source, with an eye on its sessions. */
  watching(source: LinkSource): LinkSource {
    return {
      ...source,
      open: async (signal, moves) => {
        const onBetter = (better: Session): void => {
          this.#watch(better)
          moves?.onBetter(better)
        }
        const session = await source.open(signal, moves && { ...moves, onBetter })
        this.#watch(session)
        return session
      },
    }
  }

  #watch(session: Session): void {
    session.ready.then(
      () => {
        this.#observer = this.#observing.opened(session)
      },
      () => {},
    )
  }

  /** The same caller, with an eye on its calls of this tool. */
  making({ call }: Pick<Caller, 'call'>, tool: string): Pick<Caller, 'call'> {
    return {
      call: async (...request) => {
        const observer = this.#observer
        const began = observer?.began() ?? 0
        const end = (outcome: ErrorCode | 'ok'): void => {
          const asked = { kind: 'tool', name: tool } as const
          // A call may have waited for the session that it went out on.
          if (observer !== undefined) observer.ended(began, asked, outcome)
          else this.#observer?.ended(this.#observer.began(), asked, outcome)
        }
        try {
          const answer = await call(...request)
          end('error' in answer ? answer.error.code : 'ok')
          return answer
        } catch (error) {
          end(toCtError(error).code)
          throw error
        }
      },
    }
  }
}
